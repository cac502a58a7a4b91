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

int NAME_at(const REAL *q, const REAL *joint_speed, NAME_map *map)
{
    REAL drive[NAME_back_drives_outputs], y[NAME_back_kinematics_outputs], z[NAME_back_transmission_outputs], speed[NAME_back_ndrives];
    REAL motors[NAME_ahead_drives_outputs];
    NAME_loop_Map w;
    int i, status;
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
    memcpy(w.J, map->J, sizeof map->J);
    memcpy(w.J_rate, map->J_rate, sizeof map->J_rate);
    status = NAME_loop_inverted(&w) ? 0 : 4;
    memcpy(map->K, w.K, sizeof map->K);
    memcpy(map->K_rate, w.K_rate, sizeof map->K_rate);
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
