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

/*
 * Closes the loops with the drives at the given values, on the branch of q: Newton's flow dq/ds = -J^-1 phi moves the
 * drives straight to them; a step is halved until the flow turns by less than a quarter along it.
 * near_ (turns of cut joints, counted on) and free_ (free parameters) may be 0: those of the model. residual may be 0.
 * Returns 0, or 1 if it does not close; q is then the last position on the way.
 */
int NAME_assemble(double *q, const double *drive, double *near_, const double *free_, double *residual)
{
    const double closed = 1e-13, nearly = 1e-10, longest = 0.3;
    double d[NAME_nq], p[NAME_nq], e[NAME_nq], r;
    int i, n, stuck;
    NAME_normalise(q);
    r = NAME_newton(q, drive, near_, free_, d);
    stuck = !(r >= 0.0);
    for (n = 0; n < 1000 && !stuck && r > closed; n++) {
        double size = 0.0, f;
        for (i = 0; i < NAME_nq; i++) size = fmax(size, fabs(d[i]) / NAME_scale[i]);
        for (f = size > longest ? longest / size : 1.0;; f *= 0.5) {
            double off = 0.0, s;
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
            if (r < nearly || !(f > 1e-4)) {
                stuck = 1;
                break;
            }
        }
    }
    if (residual) *residual = r;
    if (!(r <= closed || (r < nearly && stuck))) return 1;
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
