/* common */
static void NAME_put(REAL *to, const REAL *from, int n)
{
    int i;
    for (i = 0; i < n; i++) to[i] = from ? from[i] : 0.0;
}

/* assemble */
/*
 * Closes the loops with the drives at the given values, on the branch of q: at once where that is near, else the drives walk
 * there by steps that are halved where Newton's method hesitates.
 * near_ (turns of cut joints, counted on) and parameters may be 0: those of the model.
 * Returns 0; or 1 if the drives cannot get there: q is where they got, or 2 if the loops do not close at all.
 */
int NAME_assemble(REAL *q, const REAL *drive, REAL *near_, const REAL *parameters)
{
    NAME_loop_Closing w;
    const REAL *numbers = parameters ? parameters : NAME_parameters;
    int i, status;
    memset(&w, 0, sizeof w);
    NAME_put(w.q, q, NAME_nq);
    NAME_put(w.drive, drive, NAME_ndrives);
    NAME_put(w.near_, near_ ? near_ : NAME_near, NAME_loop_nnear);
    NAME_put(w.scale, NAME_scale, NAME_nq);
    for (i = 0; i < NAME_nquaternions; i++) w.quaternions[i] = NAME_quaternion[i];
    NAME_put(w.kinematics.x + NAME_loop_KinematicsInputs_parameters, numbers, NAME_loop_KinematicsInputs_parameters_n);
    NAME_put(w.drives.x + NAME_loop_DrivesInputs_parameters, numbers, NAME_loop_DrivesInputs_parameters_n);
    NAME_put(w.turns.x + NAME_loop_TurnsInputs_parameters, numbers, NAME_loop_TurnsInputs_parameters_n);
    status = NAME_loop_assembled(&w);
    NAME_put(q, w.q, NAME_nq);
    if (near_) NAME_put(near_, w.near_, NAME_loop_nnear);
    return status;
}

/* step */
static void NAME_begin(
    NAME_loop_Motion *m, const REAL *q, const REAL *v, const REAL *tau, const REAL *law, const REAL *near_, const REAL *numbers)
{
    int i;
    NAME_put(m->q, q, NAME_nq);
    NAME_put(m->v, v, NAME_nv);
    NAME_put(m->law, law, NAME_loop_nlaw);
    NAME_put(m->near_, near_ ? near_ : NAME_near, NAME_loop_nnear);
    for (i = 0; i < NAME_nquaternions; i++) m->quaternions[i] = NAME_quaternion[i];
    NAME_put(m->forward.x + NAME_loop_ForwardInputs_tau, tau, NAME_loop_ForwardInputs_tau_n);
    NAME_put(m->forward.x + NAME_loop_ForwardInputs_parameters, numbers, NAME_loop_ForwardInputs_parameters_n);
    NAME_put(m->projection.x + NAME_loop_ProjectionInputs_parameters, numbers, NAME_loop_ProjectionInputs_parameters_n);
    NAME_put(m->qdot.x + NAME_loop_QdotInputs_parameters, numbers, NAME_loop_QdotInputs_parameters_n);
    NAME_put(m->turns.x + NAME_loop_TurnsInputs_parameters, numbers, NAME_loop_TurnsInputs_parameters_n);
}

static int NAME_end(const NAME_loop_Motion *m, int status, REAL *q, REAL *v, REAL *t, REAL dt, REAL *near_)
{
    if (status & 7) return status & 7;
    NAME_put(q, m->q, NAME_nq);
    NAME_put(v, m->v, NAME_nv);
    if (near_) NAME_put(near_, m->near_, NAME_loop_nnear);
    if (t) *t += dt;
    return status;
}

/* singular */
static int NAME_advance(
    REAL *q, REAL *v, const REAL *tau, const REAL *law, REAL *t, REAL dt, REAL *near_, const REAL *parameters)
{
    NAME_loop_Passing w;
    const REAL *numbers = parameters ? parameters : NAME_parameters;
    NAME_begin(&w.motion, q, v, tau, law, near_, numbers);
    NAME_put(w.singular.terms.x + NAME_loop_TermsInputs_parameters, numbers, NAME_loop_TermsInputs_parameters_n);
    NAME_put(w.singular.rows, NAME_row_scale, NAME_loop_nc);
    NAME_put(w.singular.columns, NAME_column_scale, NAME_nv);
    return NAME_end(&w.motion, NAME_loop_stepped_through(&w, t ? *t : 0.0, dt), q, v, t, dt, near_);
}

/* regular */
static int NAME_advance(
    REAL *q, REAL *v, const REAL *tau, const REAL *law, REAL *t, REAL dt, REAL *near_, const REAL *parameters)
{
    NAME_loop_Motion m;
    NAME_begin(&m, q, v, tau, law, near_, parameters ? parameters : NAME_parameters);
    return NAME_end(&m, NAME_loop_stepped(&m, t ? *t : 0.0, dt), q, v, t, dt, near_);
}

/* free */
/*
 * One Runge-Kutta step of order four of the motion under efforts tau (0: none), then back onto the loops in the mass metric.
 * t (may be 0: time zero) advances. near_ and parameters as in NAME_assemble. Returns NAME_ok (0), or NAME_continued (8): near a singular
 * position, where accelerations were taken just beside it. Otherwise nothing is changed, and a sum of NAME_not_finite (1) and
 * NAME_singular (2), or NAME_open (4) comes back: the loops do not close.
 */
int NAME_step(REAL *q, REAL *v, const REAL *tau, REAL *t, REAL dt, REAL *near_, const REAL *parameters)
{
    return NAME_advance(q, v, tau, 0, t, dt, near_, parameters);
}

/* moved */
/*
 * One Runge-Kutta step of order four of the motion under efforts tau (0: none) with prescribed motions, then back onto the loops and
 * these motions in the mass metric. drive, speed and acceleration are those at the beginning; over the step the acceleration is constant.
 * t (may be 0: time zero) advances. near_ (turns of cut joints, counted on) and parameters may be 0: those of the model.
 * Returns NAME_ok (0), or NAME_continued (8): near a singular position, where accelerations were taken just beside it. Otherwise nothing
 * is changed, and a sum of NAME_not_finite (1) and NAME_singular (2), or NAME_open (4) comes back: the loops do not close.
 */
int NAME_step(
    REAL *q, REAL *v, const REAL *tau, const REAL *drive, const REAL *speed, const REAL *acceleration, REAL *t, REAL dt, REAL *near_,
    const REAL *parameters)
{
    REAL law[3 * NAME_ndrivers];
    NAME_put(law, drive, NAME_ndrivers);
    NAME_put(law + NAME_ndrivers, speed, NAME_ndrivers);
    NAME_put(law + 2 * NAME_ndrivers, acceleration, NAME_ndrivers);
    return NAME_advance(q, v, tau, law, t, dt, near_, parameters);
}
