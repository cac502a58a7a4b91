/* common */
static void NAME_put(double *to, const double *from, int n)
{
    int i;
    for (i = 0; i < n; i++) to[i] = from ? from[i] : 0.0;
}

static void NAME_normalise(double *q)
{
    int k, i;
    for (k = 0; k < NAME_nquaternions; k++) {
        double *r = q + NAME_quaternion[k];
        const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
        for (i = 0; i < 4; i++) r[i] /= length;
    }
}

/* assemble */
static double NAME_newton(const double *q, const double *drive, const double *near_, const double *free_, double *step)
{
    double y[NAME_kinematics_outputs];
    int i;
    NAME_run_kinematics(q, 0, drive, 0, 0, near_, free_, y);
    for (i = 0; i < NAME_nq; i++) step[i] = y[NAME_kinematics_out_q + i] - q[i];
    return y[NAME_kinematics_out_residual];
}

/* Newton's steps from q, each to correct the one before by less than a quarter; `damped` steps are halved until they do. */
static double NAME_close(double *q, const double *drive, const double *near_, const double *free_, int damped)
{
    const double closed = 1e-13, nearly = 1e-10, longest = 0.3;
    double d[NAME_nq], p[NAME_nq], e[NAME_nq], r = NAME_newton(q, drive, near_, free_, d);
    int i, k;
    for (k = 0; k < 200 && r > closed; k++) {
        double size = 0.0, f;
        for (i = 0; i < NAME_nq; i++) size = fmax(size, fabs(d[i]) / NAME_scale[i]);
        for (f = size > longest ? longest / size : 1.0;; f *= 0.5) {
            double off = 0.0, s;
            if ((f < 1.0 && !damped) || !(f > 1e-4)) return r < nearly ? r : -1.0;
            for (i = 0; i < NAME_nq; i++) p[i] = q[i] + f * d[i];
            NAME_normalise(p);
            s = NAME_newton(p, drive, near_, free_, e);
            for (i = 0; i < NAME_nq; i++) off = fmax(off, fabs(e[i] - (1.0 - f) * d[i]) / NAME_scale[i]);
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
 * near_ (turns of cut joints, counted on) and free_ (free parameters) may be 0: those of the model.
 * Returns 0; or 1 if the drives cannot get there: q is where they got, or 2 if the loops do not close at all.
 */
int NAME_assemble(double *q, const double *drive, double *near_, const double *free_)
{
    double h[NAME_nq], from[2 * NAME_ndrives], to[NAME_ndrives], s = 0.0, f = 1.0;
    int i;
    NAME_normalise(q);
    NAME_put(h, q, NAME_nq);
    if (NAME_close(h, drive, near_, free_, 0) < 0.0) {
        NAME_run_drives(q, 0, near_, free_, from);
        if (NAME_close(q, from, near_, free_, 1) < 0.0) return 2;
        while (s < 1.0) {
            NAME_put(h, q, NAME_nq);
            for (i = 0; i < NAME_ndrives; i++) to[i] = s + f < 1.0 ? from[i] + (s + f) * (drive[i] - from[i]) : drive[i];
            if (NAME_close(h, to, near_, free_, 0) < 0.0) {
                f *= 0.5;
                if (f < 1e-7) return 1;
                continue;
            }
            s = s + f < 1.0 ? s + f : 1.0;
            f = 2.0 * f < 1.0 - s ? 2.0 * f : 1.0 - s;
            NAME_put(q, h, NAME_nq);
            NAME_count(q, near_, free_);
        }
    }
    NAME_put(q, h, NAME_nq);
    NAME_count(q, near_, free_);
    return 0;
}

/* step */
static int NAME_rate(
    const double *q, const double *v, const double *tau, double t, const double *near_, const double *free_, double *dq, double *dv)
{
    double y[NAME_forward_outputs];
    const int status = NAME_run_forward(q, v, tau, &t, near_, free_, y);
    NAME_put(dv, y + NAME_forward_out_a, NAME_nv);
    NAME_qdot_of(q, v, dq);
    return status;
}

/*
 * One Runge-Kutta step of order four of the motion under efforts tau (0: none), then back onto the loops in the mass metric.
 * t (may be 0: time zero) advances. near_ and free_ as in NAME_assemble. Returns 0; otherwise nothing is changed and
 * the status word of a kernel comes back (sum of 1: not finite, 2: singular), or 4: the loops do not close.
 */
int NAME_step(double *q, double *v, const double *tau, double *t, double dt, double *near_, const double *free_)
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    const double now = t ? *t : 0.0;
    double Q[NAME_nq], V[NAME_nv], dq[NAME_nq], dv[NAME_nv], new_q[NAME_nq], new_v[NAME_nv], r = 1.0;
    int i, k, status = 0;
    NAME_put(new_q, q, NAME_nq);
    NAME_put(new_v, v, NAME_nv);
    for (k = 0; k < 4; k++) {
        for (i = 0; i < NAME_nq; i++) Q[i] = q[i] + (k ? part[k] * dt * dq[i] : 0.0);
        for (i = 0; i < NAME_nv; i++) V[i] = v[i] + (k ? part[k] * dt * dv[i] : 0.0);
        status |= NAME_rate(Q, V, tau, now + part[k] * dt, near_, free_, dq, dv);
        for (i = 0; i < NAME_nq; i++) new_q[i] += weight[k] * dt * dq[i];
        for (i = 0; i < NAME_nv; i++) new_v[i] += weight[k] * dt * dv[i];
    }
    NAME_normalise(new_q);
    for (k = 0; k < 6 && !status && r > 1e-13; k++) {
        double y[NAME_projection_outputs], fast = 1.0, end = now + dt;
        status |= NAME_run_projection(new_q, new_v, &end, near_, free_, y);
        NAME_put(new_q, y + NAME_projection_out_q, NAME_nq);
        NAME_put(new_v, y + NAME_projection_out_v, NAME_nv);
        for (i = 0; i < NAME_nv; i++) fast = fmax(fast, fabs(new_v[i]));
        r = fmax(y[NAME_projection_out_residual], y[NAME_projection_out_rate_residual] / fast);
    }
    if (status) return status;
    if (!(r < 1e-10)) return 4;
    NAME_put(q, new_q, NAME_nq);
    NAME_put(v, new_v, NAME_nv);
    NAME_count(q, near_, free_);
    if (t) *t = now + dt;
    return 0;
}
