/* common */
static void NAME_put(REAL *to, const REAL *from, int n)
{
    int i;
    for (i = 0; i < n; i++) to[i] = from ? from[i] : 0.0;
}

static void NAME_normalize(REAL *q)
{
    int k, i;
    for (k = 0; k < NAME_nquaternions; k++) {
        REAL *r = q + NAME_quaternion[k];
        const REAL length = SQRT(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
        for (i = 0; i < 4; i++) r[i] /= length;
    }
}

/* assemble */
static REAL NAME_newton(const REAL *q, const REAL *drive, const REAL *near_, const REAL *parameters, REAL *step)
{
    REAL y[NAME_kinematics_outputs];
    int i;
    NAME_run_kinematics(q, 0, drive, 0, 0, near_, parameters, y);
    for (i = 0; i < NAME_nq; i++) step[i] = y[NAME_kinematics_out_q + i] - q[i];
    return y[NAME_kinematics_out_residual];
}

/* Newton's steps from q, each to correct the one before by less than a quarter; `damped` steps are halved until they do. */
static REAL NAME_close(REAL *q, const REAL *drive, const REAL *near_, const REAL *parameters, int damped)
{
    const REAL closed = CLOSED, nearly = NEARLY, longest = 0.3;
    REAL d[NAME_nq], p[NAME_nq], e[NAME_nq], r = NAME_newton(q, drive, near_, parameters, d);
    int i, k;
    for (k = 0; k < 200 && r > closed; k++) {
        REAL size = 0.0, f;
        for (i = 0; i < NAME_nq; i++) size = FMAX(size, FABS(d[i]) / NAME_scale[i]);
        for (f = size > longest ? longest / size : 1.0;; f *= 0.5) {
            REAL off = 0.0, s;
            if ((f < 1.0 && !damped) || !(f > 1e-4)) return r < nearly ? r : -1.0;
            for (i = 0; i < NAME_nq; i++) p[i] = q[i] + f * d[i];
            NAME_normalize(p);
            s = NAME_newton(p, drive, near_, parameters, e);
            for (i = 0; i < NAME_nq; i++) off = FMAX(off, FABS(e[i] - (1.0 - f) * d[i]) / NAME_scale[i]);
            if (off <= 0.25 * size && s >= 0.0) {
                NAME_put(q, p, NAME_nq);
                NAME_put(d, e, NAME_nq);
                r = s;
                break;
            }
            if (r < nearly) return r; /* round-off stops it */
        }
    }
    return r < nearly ? r : -1.0;
}

/*
 * Closes the loops with the drives at the given values, on the branch of q: at once where that is near, else the drives walk
 * there by steps that are halved where Newton's method hesitates.
 * near_ (turns of cut joints, counted on) and parameters may be 0: those of the model.
 * Returns 0; or 1 if the drives cannot get there: q is where they got, or 2 if the loops do not close at all.
 */
int NAME_assemble(REAL *q, const REAL *drive, REAL *near_, const REAL *parameters)
{
    REAL h[NAME_nq], from[2 * NAME_ndrives], to[NAME_ndrives], s = 0.0, f = 1.0;
    int i;
    NAME_normalize(q);
    NAME_put(h, q, NAME_nq);
    if (NAME_close(h, drive, near_, parameters, 0) < 0.0) {
        NAME_run_drives(q, 0, near_, parameters, from);
        if (NAME_close(q, from, near_, parameters, 1) < 0.0) return 2;
        while (s < 1.0) {
            NAME_put(h, q, NAME_nq);
            for (i = 0; i < NAME_ndrives; i++) to[i] = s + f < 1.0 ? from[i] + (s + f) * (drive[i] - from[i]) : drive[i];
            if (NAME_close(h, to, near_, parameters, 0) < 0.0) {
                f *= 0.5;
                if (f < SHORTEST) return 1;
                continue;
            }
            s = s + f < 1.0 ? s + f : 1.0;
            f = 2.0 * f < 1.0 - s ? 2.0 * f : 1.0 - s;
            NAME_put(q, h, NAME_nq);
            NAME_count(q, near_, parameters);
        }
    }
    NAME_put(q, h, NAME_nq);
    NAME_count(q, near_, parameters);
    return 0;
}

/* singular */
/* A = L L' in place; 0 if A is not positive definite. */
static int NAME_factor(REAL *A)
{
    int i, j, k;
    for (j = 0; j < NAME_nv; j++) {
        for (i = j; i < NAME_nv; i++) {
            REAL s = A[i * NAME_nv + j];
            for (k = 0; k < j; k++) s -= A[i * NAME_nv + k] * A[j * NAME_nv + k];
            if (i == j && !(s > 0.0)) return 0;
            A[i * NAME_nv + j] = i == j ? SQRT(s) : s / A[j * NAME_nv + j];
        }
    }
    return 1;
}

static void NAME_substitute(const REAL *A, REAL *b)
{
    int i, k;
    for (i = 0; i < NAME_nv; i++) {
        for (k = 0; k < i; k++) b[i] -= A[i * NAME_nv + k] * b[k];
        b[i] /= A[i * NAME_nv + i];
    }
    for (i = NAME_nv - 1; i >= 0; i--) {
        for (k = i + 1; k < NAME_nv; k++) b[i] -= A[k * NAME_nv + i] * b[k];
        b[i] /= A[i * NAME_nv + i];
    }
}

/* M + stiff J'J in dimensionless coordinates and rows, factored: regular also where J loses rank. Returns stiff, 0 if it fails. */
static REAL NAME_regularized(const REAL *y, REAL *A)
{
    const REAL *M = y + NAME_terms_out_M, *J = y + NAME_terms_out_J;
    REAL largest = 0.0, stiff;
    int i, j, r;
    for (i = 0; i < NAME_nv; i++) largest = FMAX(largest, M[i * NAME_nv + i] * NAME_column_scale[i] * NAME_column_scale[i]);
    stiff = STIFF * largest;
    for (i = 0; i < NAME_nv; i++) {
        for (j = 0; j <= i; j++) {
            REAL s = M[i * NAME_nv + j];
            for (r = 0; r < NAME_nc; r++) s += stiff * J[r * NAME_nv + i] * J[r * NAME_nv + j] / (NAME_row_scale[r] * NAME_row_scale[r]);
            A[i * NAME_nv + j] = s * NAME_column_scale[i] * NAME_column_scale[j];
        }
    }
    return NAME_factor(A) ? stiff : 0.0;
}

/* x: the motion that a force and the gaps of the loops lead to. */
static void NAME_pulled(const REAL *y, const REAL *A, REAL stiff, const REAL *gap, const REAL *force, REAL *x)
{
    const REAL *J = y + NAME_terms_out_J;
    int i, r;
    for (i = 0; i < NAME_nv; i++) {
        REAL s = force ? force[i] : 0.0;
        for (r = 0; r < NAME_nc; r++) s -= stiff * J[r * NAME_nv + i] * gap[r] / (NAME_row_scale[r] * NAME_row_scale[r]);
        x[i] = s * NAME_column_scale[i];
    }
    NAME_substitute(A, x);
    for (i = 0; i < NAME_nv; i++) x[i] *= NAME_column_scale[i];
}

/* Accelerations of least constraint by the augmented Lagrangian, also in a singular position. Returns 0, or 2 if there are none. */
static int NAME_least(
    const REAL *q, const REAL *v, const REAL *tau, const REAL *t, const REAL *law, const REAL *near_, const REAL *parameters, REAL *a)
{
    REAL y[NAME_terms_outputs], A[NAME_nv * NAME_nv], force[NAME_nv], pull[NAME_nc + 1], stiff;
    const REAL *J = y + NAME_terms_out_J, *k = y + NAME_terms_out_k;
    int i, r, round;
    if (NAME_run_terms(q, v, t, law, near_, parameters, y)) return 2;
    stiff = NAME_regularized(y, A);
    if (!(stiff > 0.0)) return 2;
    for (r = 0; r < NAME_nc; r++) pull[r] = 0.0;
    for (round = 0; round < 6; round++) {
        for (i = 0; i < NAME_nv; i++) {
            force[i] = (tau ? tau[i] : 0.0) - y[NAME_terms_out_h + i];
            for (r = 0; r < NAME_nc; r++) force[i] += J[r * NAME_nv + i] * pull[r];
        }
        NAME_pulled(y, A, stiff, k, force, a);
        for (r = 0; r < NAME_nc; r++) {
            REAL gap = k[r];
            for (i = 0; i < NAME_nv; i++) gap += J[r * NAME_nv + i] * a[i];
            pull[r] -= stiff * gap / (NAME_row_scale[r] * NAME_row_scale[r]);
        }
    }
    return 0;
}

/* Back onto the loops where the projection is singular: one step; *gap is the largest gap before it. Returns 0, or 2. */
static int NAME_pull_back(REAL *q, REAL *v, const REAL *t, const REAL *law, const REAL *near_, const REAL *parameters, REAL *gap)
{
    REAL y[NAME_terms_outputs], A[NAME_nv * NAME_nv], open[NAME_nc + 1], dq[NAME_nv], dv[NAME_nv], rate[NAME_nq], fast = 1.0, stiff;
    const REAL *J = y + NAME_terms_out_J, *phi = y + NAME_terms_out_phi;
    int i, r;
    if (NAME_run_terms(q, v, t, law, near_, parameters, y)) return 2;
    stiff = NAME_regularized(y, A);
    if (!(stiff > 0.0)) return 2;
    *gap = 0.0;
    for (i = 0; i < NAME_nv; i++) fast = FMAX(fast, FABS(v[i]));
    for (r = 0; r < NAME_nc; r++) {
        open[r] = y[NAME_terms_out_b + r];
        for (i = 0; i < NAME_nv; i++) open[r] += J[r * NAME_nv + i] * v[i];
        *gap = FMAX(*gap, FMAX(FABS(phi[r]), FABS(open[r]) / fast) / NAME_row_scale[r]);
    }
    NAME_pulled(y, A, stiff, phi, 0, dq);
    NAME_pulled(y, A, stiff, open, 0, dv);
    NAME_qdot_of(q, dq, rate);
    for (i = 0; i < NAME_nq; i++) q[i] += rate[i];
    for (i = 0; i < NAME_nv; i++) v[i] += dv[i];
    NAME_normalize(q);
    return 0;
}

/* regular */
static int NAME_least(
    const REAL *q, const REAL *v, const REAL *tau, const REAL *t, const REAL *law, const REAL *near_, const REAL *parameters, REAL *a)
{
    (void)q;
    (void)v;
    (void)tau;
    (void)t;
    (void)law;
    (void)near_;
    (void)parameters;
    (void)a;
    return 2;
}

static int NAME_pull_back(REAL *q, REAL *v, const REAL *t, const REAL *law, const REAL *near_, const REAL *parameters, REAL *gap)
{
    (void)q;
    (void)v;
    (void)t;
    (void)law;
    (void)near_;
    (void)parameters;
    (void)gap;
    return 2;
}

/* step */
/* Prescribed motions some time later: values, speeds and accelerations. */
static void NAME_later(const REAL *law, REAL h, REAL *out)
{
    int i;
    const int n = NAME_ndrivers;
    for (i = 0; law && i < n; i++) {
        out[i] = law[i] + h * (law[n + i] + 0.5 * h * law[2 * n + i]);
        out[n + i] = law[n + i] + h * law[2 * n + i];
        out[2 * n + i] = law[2 * n + i];
    }
}

/* dq/dt and dv/dt. In a singular position dv/dt is taken a little ahead of it, or is that of least constraint: 8 says so. */
static int NAME_rate(
    const REAL *q, const REAL *v, const REAL *tau, REAL t, REAL dt, const REAL *law, const REAL *near_, const REAL *parameters, REAL *dq,
    REAL *dv)
{
    REAL y[NAME_forward_outputs], p[NAME_projection_outputs], ahead[NAME_nq], later[3 * NAME_ndrivers + 1], soon = t + 0.1 * dt;
    int i, status = NAME_run_forward(q, v, tau, &t, law, near_, parameters, y);
    NAME_qdot_of(q, v, dq);
    if (!(status & 2)) {
        NAME_put(dv, y + NAME_forward_out_a, NAME_nv);
        return status;
    }
    for (i = 0; i < NAME_nq; i++) ahead[i] = q[i] + 0.1 * dt * dq[i];
    NAME_normalize(ahead);
    NAME_later(law, 0.1 * dt, later);
    status = NAME_run_projection(ahead, v, &soon, law ? later : 0, near_, parameters, p);
    if (!status)
        status = NAME_run_forward(
            p + NAME_projection_out_q, p + NAME_projection_out_v, tau, &soon, law ? later : 0, near_, parameters, y);
    if (!status) NAME_put(dv, y + NAME_forward_out_a, NAME_nv);
    else if (NAME_least(q, v, tau, &t, law, near_, parameters, dv)) return 2;
    return 8;
}

static int NAME_advance(
    REAL *q, REAL *v, const REAL *tau, const REAL *law, REAL *t, REAL dt, REAL *near_, const REAL *parameters)
{
    static const REAL part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    const REAL now = t ? *t : 0.0, end = now + dt;
    REAL Q[NAME_nq], V[NAME_nv], dq[NAME_nq], dv[NAME_nv], new_q[NAME_nq], new_v[NAME_nv], later[3 * NAME_ndrivers + 1], r = 1.0;
    int i, k, status = 0;
    NAME_put(new_q, q, NAME_nq);
    NAME_put(new_v, v, NAME_nv);
    for (k = 0; k < 4; k++) {
        for (i = 0; i < NAME_nq; i++) Q[i] = q[i] + (k ? part[k] * dt * dq[i] : 0.0);
        for (i = 0; i < NAME_nv; i++) V[i] = v[i] + (k ? part[k] * dt * dv[i] : 0.0);
        NAME_later(law, part[k] * dt, later);
        status |= NAME_rate(Q, V, tau, now + part[k] * dt, dt, law ? later : 0, near_, parameters, dq, dv);
        if (status & 7) return status & 7;
        for (i = 0; i < NAME_nq; i++) new_q[i] += weight[k] * dt * dq[i];
        for (i = 0; i < NAME_nv; i++) new_v[i] += weight[k] * dt * dv[i];
    }
    NAME_normalize(new_q);
    for (k = 0; k < (status & 8 ? 30 : 6) && r > CLOSED; k++) {
        REAL y[NAME_projection_outputs], fast = 1.0;
        const int found = NAME_run_projection(new_q, new_v, &end, law ? later : 0, near_, parameters, y);
        if (found) {
            if (NAME_pull_back(new_q, new_v, &end, law ? later : 0, near_, parameters, &r)) return found;
            status |= 8;
            continue;
        }
        NAME_put(new_q, y + NAME_projection_out_q, NAME_nq);
        NAME_put(new_v, y + NAME_projection_out_v, NAME_nv);
        for (i = 0; i < NAME_nv; i++) fast = FMAX(fast, FABS(new_v[i]));
        r = FMAX(y[NAME_projection_out_residual], y[NAME_projection_out_rate_residual] / fast);
    }
    if (!(r < (status & 8 ? LOOSE : NEARLY))) return 4;
    NAME_put(q, new_q, NAME_nq);
    NAME_put(v, new_v, NAME_nv);
    NAME_count(q, near_, parameters);
    if (t) *t = end;
    return status;
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
