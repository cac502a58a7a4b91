/* Values, directional and adjoint derivatives of a flat program. Of a choice the chosen side is differentiated. */
#include <math.h>
#include "NAME_tape.h"

enum {
    CONST_, INPUT_, ADD_, SUB_, MUL_, DIV_, NEG_, SQRT_, ABS_, SIN_, COS_, EXP_, LOG_, TANH_, ATAN2_, POW_, ROUND_, MIN_, MAX_, LT_, LE_,
    SELECT_
};

void NAME_values(const struct tape *p, const double *x, double *y, double *w)
{
    const int *o = p->code;
    int k;
    for (k = 0; k < p->n; k++, o += 4) {
        const double a = o[0] > INPUT_ ? w[o[1]] : 0.0, b = o[0] > INPUT_ && o[2] >= 0 ? w[o[2]] : 0.0;
        switch (o[0]) {
        case CONST_: w[k] = p->constant[o[1]]; break;
        case INPUT_: w[k] = x[o[1]]; break;
        case ADD_: w[k] = a + b; break;
        case SUB_: w[k] = a - b; break;
        case MUL_: w[k] = a * b; break;
        case DIV_: w[k] = a / b; break;
        case NEG_: w[k] = -a; break;
        case SQRT_: w[k] = sqrt(a); break;
        case ABS_: w[k] = fabs(a); break;
        case SIN_: w[k] = sin(a); break;
        case COS_: w[k] = cos(a); break;
        case EXP_: w[k] = exp(a); break;
        case LOG_: w[k] = log(a); break;
        case TANH_: w[k] = tanh(a); break;
        case ATAN2_: w[k] = atan2(a, b); break;
        case POW_: w[k] = pow(a, b); break;
        case ROUND_: w[k] = rint(a); break;
        case MIN_: w[k] = a < b || a != a ? a : b; break;
        case MAX_: w[k] = b < a || a != a ? a : b; break;
        case LT_: w[k] = a < b ? 1.0 : 0.0; break;
        case LE_: w[k] = a <= b ? 1.0 : 0.0; break;
        default: w[k] = a != 0.0 ? w[o[2]] : w[o[3]]; break;
        }
    }
    for (k = 0; k < p->n_out; k++) y[k] = w[p->result[k]];
}

/* Derivatives of operation k by its first and second operand (of a choice: by its second and third). */
static void slopes(const int *o, double a, double b, double r, double *da, double *db)
{
    *da = 0.0;
    *db = 0.0;
    switch (o[0]) {
    case ADD_: *da = 1.0; *db = 1.0; break;
    case SUB_: *da = 1.0; *db = -1.0; break;
    case MUL_: *da = b; *db = a; break;
    case DIV_: *da = 1.0 / b; *db = -r / b; break;
    case NEG_: *da = -1.0; break;
    case SQRT_: *da = 0.5 / r; break;
    case ABS_: *da = a < 0.0 ? -1.0 : 1.0; break;
    case SIN_: *da = cos(a); break;
    case COS_: *da = -sin(a); break;
    case EXP_: *da = r; break;
    case LOG_: *da = 1.0 / a; break;
    case TANH_: *da = 1.0 - r * r; break;
    case ATAN2_: *da = b / (a * a + b * b); *db = -a / (a * a + b * b); break;
    case POW_: *da = b * pow(a, b - 1.0); *db = a > 0.0 ? r * log(a) : 0.0; break;
    case MIN_: *da = a < b ? 1.0 : 0.0; *db = 1.0 - *da; break;
    case MAX_: *da = b < a ? 1.0 : 0.0; *db = 1.0 - *da; break;
    case SELECT_: *da = a != 0.0 ? 1.0 : 0.0; *db = 1.0 - *da; break;
    default: break;
    }
}

/* A slope times a tangent; zero where the tangent is, also where the slope is not finite. */
static double share(double slope, double tangent)
{
    return tangent == 0.0 ? 0.0 : slope * tangent;
}

void NAME_along(const struct tape *p, const double *dx, double *dy, const double *w, double *d)
{
    const int *o = p->code;
    int k;
    for (k = 0; k < p->n; k++, o += 4) {
        double da, db;
        if (o[0] <= INPUT_) {
            d[k] = o[0] == INPUT_ ? dx[o[1]] : 0.0;
            continue;
        }
        slopes(o, w[o[1]], o[2] >= 0 ? w[o[2]] : 0.0, w[k], &da, &db);
        if (o[0] == SELECT_) d[k] = share(da, d[o[2]]) + share(db, d[o[3]]);
        else d[k] = share(da, d[o[1]]) + (o[2] >= 0 ? share(db, d[o[2]]) : 0.0);
    }
    for (k = 0; k < p->n_out; k++) dy[k] = d[p->result[k]];
}

void NAME_against(const struct tape *p, const double *weights, double *gx, const double *w, double *d)
{
    int k;
    for (k = 0; k < p->n; k++) d[k] = 0.0;
    for (k = 0; k < p->n_out; k++) d[p->result[k]] += weights[k];
    for (k = p->n - 1; k >= 0; k--) {
        const int *o = p->code + 4 * k;
        double da, db;
        if (d[k] == 0.0 || o[0] == CONST_) continue;
        if (o[0] == INPUT_) {
            gx[o[1]] += d[k];
            continue;
        }
        slopes(o, w[o[1]], o[2] >= 0 ? w[o[2]] : 0.0, w[k], &da, &db);
        if (o[0] == SELECT_) {
            d[o[2]] += share(da, d[k]);
            d[o[3]] += share(db, d[k]);
        } else {
            d[o[1]] += share(da, d[k]);
            if (o[2] >= 0) d[o[2]] += share(db, d[k]);
        }
    }
}
