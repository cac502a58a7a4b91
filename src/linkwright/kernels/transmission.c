/* header */
/*
 * A transmission between motors and joints at one position. Matrices are row by row: J[i][k] is the speed of motor i per speed of joint k,
 * K its inverse, *_rate their derivatives by time; M and h are inertia and bias of the whole mechanism at the joints, other coordinates at
 * rest: M joint'' + h = J' motor torques (zero where the model has no masses).
 */
typedef struct {
    REAL motor[NAME_n], joint[NAME_n], motor_speed[NAME_n];
    REAL J[NAME_n][NAME_n], J_rate[NAME_n][NAME_n], K[NAME_n][NAME_n], K_rate[NAME_n][NAME_n];
    REAL M[NAME_n][NAME_n], h[NAME_n];
} NAME_map;

/*
 * Positions of the joints at positions of the motors, and back. q are all coordinates of the mechanism: NAME_start at first, then as the last
 * call left it, because the branch nearest to it is taken. Returns 0; or 1 or 2 where the linkage does not get there: then q and the result
 * are as before. They allocate nothing and take a bounded time.
 */
int NAME_to_joints(REAL *q, const REAL *motor, REAL *joint);
int NAME_to_motors(REAL *q, const REAL *joint, REAL *motor);

/*
 * The map at q, of joints with these speeds (0: at rest). Returns 0; or 2 in a dead center of the joints, and 4 in one of the motors, where
 * K does not exist: then K and K_rate are zero.
 */
int NAME_at(const REAL *q, const REAL *joint_speed, NAME_map *map);

/* Torques at the joints that torques of the motors have the power of, and back. */
void NAME_joint_torques(const NAME_map *map, const REAL *motor, REAL *joint);
void NAME_motor_torques(const NAME_map *map, const REAL *joint, REAL *motor);

/* source */
int NAME_to_joints(REAL *q, const REAL *motor, REAL *joint)
{
    REAL p[NAME_nq], drive[NAME_ahead_ndrives], y[NAME_back_drives_outputs];
    int i, status;
    NAME_back_put(p, q, NAME_nq);
    for (i = 0; i < NAME_ahead_ndrives; i++) drive[i] = i < NAME_n ? motor[i] : NAME_ahead_start_drive[i];
    status = NAME_ahead_assemble(p, drive, 0, 0);
    if (status) return status;
    NAME_back_run_drives(p, 0, 0, 0, y);
    NAME_back_put(q, p, NAME_nq);
    NAME_back_put(joint, y + NAME_back_drives_out_drive, NAME_n);
    return 0;
}

int NAME_to_motors(REAL *q, const REAL *joint, REAL *motor)
{
    REAL p[NAME_nq], drive[NAME_back_ndrives], y[NAME_ahead_drives_outputs];
    int i, status;
    NAME_back_put(p, q, NAME_nq);
    for (i = 0; i < NAME_back_ndrives; i++) drive[i] = i < NAME_n ? joint[i] : NAME_back_start_drive[i];
    status = NAME_back_assemble(p, drive, 0, 0);
    if (status) return status;
    NAME_ahead_run_drives(p, 0, 0, 0, y);
    NAME_back_put(q, p, NAME_nq);
    NAME_back_put(motor, y + NAME_ahead_drives_out_drive, NAME_n);
    return 0;
}

/* K = 1/J by elimination with row pivoting; returns 4 where J is singular. */
static int NAME_inverse(const REAL J[NAME_n][NAME_n], REAL K[NAME_n][NAME_n])
{
    REAL A[NAME_n][NAME_n], largest = 0.0;
    int i, j, k;
    for (i = 0; i < NAME_n; i++)
        for (j = 0; j < NAME_n; j++) {
            A[i][j] = J[i][j];
            K[i][j] = i == j ? 1.0 : 0.0;
            largest = FMAX(largest, FABS(J[i][j]));
        }
    for (k = 0; k < NAME_n; k++) {
        int best = k;
        for (i = k + 1; i < NAME_n; i++)
            if (FABS(A[i][k]) > FABS(A[best][k])) best = i;
        if (!(FABS(A[best][k]) > CLOSED * largest)) {
            for (i = 0; i < NAME_n; i++) NAME_back_put(K[i], 0, NAME_n);
            return 4;
        }
        for (j = 0; j < NAME_n; j++) {
            const REAL a = A[k][j], b = K[k][j];
            A[k][j] = A[best][j];
            A[best][j] = a;
            K[k][j] = K[best][j];
            K[best][j] = b;
        }
        for (i = 0; i < NAME_n; i++) {
            const REAL f = i == k ? 0.0 : A[i][k] / A[k][k];
            for (j = 0; j < NAME_n; j++) {
                A[i][j] -= f * A[k][j];
                K[i][j] -= f * K[k][j];
            }
        }
    }
    for (i = 0; i < NAME_n; i++)
        for (j = 0; j < NAME_n; j++) K[i][j] /= A[i][i];
    return 0;
}

int NAME_at(const REAL *q, const REAL *joint_speed, NAME_map *map)
{
    REAL drive[NAME_back_drives_outputs], y[NAME_back_kinematics_outputs], z[NAME_back_transmission_outputs], speed[NAME_back_ndrives];
    REAL motors[NAME_ahead_drives_outputs], R[NAME_n][NAME_n];
    int i, j, k, status;
    const REAL *v = y + NAME_back_kinematics_out_v;
    for (i = 0; i < NAME_back_ndrives; i++) speed[i] = joint_speed && i < NAME_n ? joint_speed[i] : 0.0;
    NAME_back_run_drives(q, 0, 0, 0, drive);
    status = NAME_back_run_kinematics(q, 0, drive + NAME_back_drives_out_drive, speed, 0, 0, 0, y);
    if (status) return 2;
    status = NAME_back_run_transmission(q, v, 0, 0, 0, z);
    if (status) return 2;
    NAME_ahead_run_drives(q, v, 0, 0, motors);
    NAME_back_put(map->joint, drive + NAME_back_drives_out_drive, NAME_n);
    NAME_back_put(map->motor, motors + NAME_ahead_drives_out_drive, NAME_n);
    NAME_back_put(map->motor_speed, motors + NAME_ahead_drives_out_speed, NAME_n);
    NAME_back_put(map->h, BIAS, NAME_n);
    for (i = 0; i < NAME_n; i++) {
        NAME_back_put(map->J[i], z + NAME_back_transmission_out_J + i * NAME_n, NAME_n);
        NAME_back_put(map->J_rate[i], z + NAME_back_transmission_out_J_rate + i * NAME_n, NAME_n);
        NAME_back_put(map->M[i], INERTIA, NAME_n);
    }
    status = NAME_inverse((const REAL(*)[NAME_n])map->J, map->K);
    for (i = 0; i < NAME_n; i++)
        for (j = 0; j < NAME_n; j++)
            for (R[i][j] = 0.0, k = 0; k < NAME_n; k++) R[i][j] += map->J_rate[i][k] * map->K[k][j];
    for (i = 0; i < NAME_n; i++)
        for (j = 0; j < NAME_n; j++)
            for (map->K_rate[i][j] = 0.0, k = 0; k < NAME_n; k++) map->K_rate[i][j] -= map->K[i][k] * R[k][j];
    return status;
}

void NAME_joint_torques(const NAME_map *map, const REAL *motor, REAL *joint)
{
    int i, k;
    for (k = 0; k < NAME_n; k++)
        for (joint[k] = 0.0, i = 0; i < NAME_n; i++) joint[k] += map->J[i][k] * motor[i];
}

void NAME_motor_torques(const NAME_map *map, const REAL *joint, REAL *motor)
{
    int i, k;
    for (k = 0; k < NAME_n; k++)
        for (motor[k] = 0.0, i = 0; i < NAME_n; i++) motor[k] += map->K[i][k] * joint[i];
}
