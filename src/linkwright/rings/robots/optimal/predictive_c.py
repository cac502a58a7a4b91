"""The sample of a predictive controller as C99: fixed loops over arrays in one struct, without allocated memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MOST_SETS = 10  # of efforts at limits in a sample

HEADER = """#ifndef {NAME}_H
#define {NAME}_H

/* Predictive controller, {N} steps of {h:.9g} s. SI units, radians.
 *
 *   coordinates  {coordinates}
 *   drives       {drives}
 *
 * {name}_begin(&state) once, then in every sample
 *
 *   status = {name}_tick(&state, position, speed, reference, effort);
 *
 * position, speed   of the coordinates, measured
 * reference         {rows} rows, one for now and one for every step: coordinates, speeds, efforts
 * effort            of the drives, within their limits
 *
 * Returns 0; 1 if the equations are singular on the way, and the efforts are the last ones; 2 if the set of efforts at limits did not
 * settle, and the efforts are within the limits but not optimal.
 */

#define {NAME}_COORDINATES {f}
#define {NAME}_DRIVES {p}
#define {NAME}_STEPS {N}

typedef struct {{
    double q[{nq}], u[{N}][{p}], du[{N}][{p}], slope[{N}][{p}];
    double x[{rows}][{n}], A[{N}][{n}][{n}], B[{N}][{n}][{p}];
    double uu[{N}][{p}][{p}], ux[{N}][{p}][{n}], gu[{N}][{p}], K[{N}][{p}][{n}], first[{N}][{p}];
    int active[{N}][{p}];
}} {name}_state;

#ifdef __cplusplus
extern "C" {{
#endif
void {name}_begin({name}_state *s);
int {name}_tick({name}_state *s, const double *position, const double *speed, const double *reference, double *effort);
#ifdef __cplusplus
}}
#endif

#endif
"""

CONTROLLER = """
#include <string.h>
#include "{name}.h"

enum {{ NQ = {nq}, F = {f}, NX = {n}, P = {p}, N = {N}, W = {columns} }};
static const double H = {h!r};
static const double Q[NX] = {{{Q}}}, R[P] = {{{R}}}, LOW[P] = {{{low}}}, HIGH[P] = {{{high}}};
static const double START[NQ] = {{{start}}};

void {name}_begin({name}_state *s)
{{
    memset(s, 0, sizeof *s);
    memcpy(s->q, START, sizeof s->q);
}}

static int newton(double *q, const double *theta)
{{
    double in[{closed_in}] = {{0}}, out[{closed_out}];
    int status;
    memcpy(in + {closed_q}, q, sizeof(double) * NQ);
    memcpy(in + {closed_drive}, theta, sizeof(double) * F);
{closed_near}    status = {name}_closed(in, out);
    memcpy(q, out + {closed_result}, sizeof(double) * NQ);
    return status;
}}

/* a step of the prediction: x, q and the derivatives of the step, by Runge-Kutta of order 4 */
static int predict(double *q, const double *x, const double *u, double *next, double A[NX][NX], double B[NX][P])
{{
    static const double place[4] = {{0.0, 0.5, 0.5, 1.0}}, weight[4] = {{1.0, 2.0, 2.0, 1.0}};
    double rate[NX] = {{0}}, change[NX][W] = {{{{0}}}}, qdot[NQ] = {{0}};
    double last[NX] = {{0}}, slope[NX][W] = {{{{0}}}}, dq[NQ] = {{0}};
    double in[{model_in}] = {{0}}, out[{model_out}];
    int stage, i, j, k;
{model_near}    memcpy(in + {model_u}, u, sizeof(double) * P);
    for (stage = 0; stage < 4; stage++) {{
        double here[NX], moved[NX][W], now[NX][W];
        const double *D = out + {model_D}, *S = out + {model_S};
        for (i = 0; i < NX; i++) {{
            here[i] = x[i] + place[stage] * H * last[i];
            for (j = 0; j < W; j++)
                moved[i][j] = (i == j) + place[stage] * H * slope[i][j];
        }}
        for (i = 0; i < NQ; i++)
            in[{model_q} + i] = q[i] + place[stage] * H * dq[i];
        memcpy(in + {model_w}, here + F, sizeof(double) * F);
        if ({name}_model(in, out))
            return 1;
        for (i = 0; i < F; i++) {{
            last[i] = here[F + i];
            last[F + i] = out[{model_f} + i];
            for (j = 0; j < W; j++) {{
                double sum = j < NX ? 0.0 : D[i * W + j];
                for (k = 0; k < NX; k++)
                    sum += D[i * W + k] * moved[k][j];
                now[i][j] = moved[F + i][j];
                now[F + i][j] = sum;
            }}
        }}
        memcpy(slope, now, sizeof slope);
        for (i = 0; i < NQ; i++) {{
            dq[i] = 0.0;
            for (j = 0; j < F; j++)
                dq[i] += S[i * F + j] * here[F + j];
            qdot[i] += weight[stage] / 6.0 * dq[i];
        }}
        for (i = 0; i < NX; i++) {{
            rate[i] += weight[stage] / 6.0 * last[i];
            for (j = 0; j < W; j++)
                change[i][j] += weight[stage] / 6.0 * slope[i][j];
        }}
    }}
    for (i = 0; i < NX; i++) {{
        next[i] = x[i] + H * rate[i];
        for (j = 0; j < NX; j++)
            A[i][j] = (i == j) + H * change[i][j];
        for (j = 0; j < P; j++)
            B[i][j] = H * change[i][NX + j];
    }}
    for (i = 0; i < NQ; i++)
        q[i] += H * qdot[i];
    return newton(q, next);
}}

/* solve M y = b for the free entries, by Cholesky; M is positive definite */
static void solve(double M[P][P], const int *active, double *b)
{{
    double L[P][P];
    int at[P], m = 0, i, j, k;
    for (i = 0; i < P; i++)
        if (!active[i])
            at[m++] = i;
    for (i = 0; i < m; i++)
        for (j = 0; j <= i; j++) {{
            double sum = M[at[i]][at[j]];
            for (k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }}
    for (i = 0; i < m; i++) {{
        double sum = b[at[i]];
        for (k = 0; k < i; k++)
            sum -= L[i][k] * b[at[k]];
        b[at[i]] = sum / L[i][i];
    }}
    for (i = m - 1; i >= 0; i--) {{
        double sum = b[at[i]];
        for (k = i + 1; k < m; k++)
            sum -= L[k][i] * b[at[k]];
        b[at[i]] = sum / L[i][i];
    }}
}}

/* changes of the efforts with the active ones at their limits, and the derivatives of the costs by the efforts */
static void riccati({name}_state *s, const double *reference)
{{
    double V[NX][NX] = {{{{0}}}}, pull[NX], dx[NX] = {{0}};
    int i, j, k, l;
    for (i = 0; i < NX; i++) {{
        V[i][i] = Q[i];
        pull[i] = Q[i] * (s->x[N][i] - reference[N * W + i]);
    }}
    for (k = N - 1; k >= 0; k--) {{
        double VA[NX][NX], VB[NX][P], xx[NX][NX], gx[NX], change[P], column[P], K_uu[NX][P];
        const double *r = reference + k * W;
        for (i = 0; i < NX; i++) {{
            for (j = 0; j < NX; j++)
                for (VA[i][j] = 0.0, l = 0; l < NX; l++)
                    VA[i][j] += V[i][l] * s->A[k][l][j];
            for (j = 0; j < P; j++)
                for (VB[i][j] = 0.0, l = 0; l < NX; l++)
                    VB[i][j] += V[i][l] * s->B[k][l][j];
        }}
        for (i = 0; i < P; i++) {{
            for (j = 0; j < P; j++)
                for (s->uu[k][i][j] = i == j ? R[i] : 0.0, l = 0; l < NX; l++)
                    s->uu[k][i][j] += s->B[k][l][i] * VB[l][j];
            for (j = 0; j < NX; j++)
                for (s->ux[k][i][j] = 0.0, l = 0; l < NX; l++)
                    s->ux[k][i][j] += s->B[k][l][i] * VA[l][j];
            for (s->gu[k][i] = R[i] * (s->u[k][i] - r[NX + i]), l = 0; l < NX; l++)
                s->gu[k][i] += s->B[k][l][i] * pull[l];
        }}
        for (i = 0; i < NX; i++) {{
            for (j = 0; j < NX; j++)
                for (xx[i][j] = i == j ? Q[i] : 0.0, l = 0; l < NX; l++)
                    xx[i][j] += s->A[k][l][i] * VA[l][j];
            for (gx[i] = Q[i] * (s->x[k][i] - r[i]), l = 0; l < NX; l++)
                gx[i] += s->A[k][l][i] * pull[l];
        }}
        for (i = 0; i < P; i++)
            s->first[k][i] = s->active[k][i] ? (s->active[k][i] < 0 ? LOW[i] : HIGH[i]) - s->u[k][i] : 0.0;
        for (i = 0; i < P; i++)
            for (change[i] = -s->gu[k][i], j = 0; j < P; j++)
                change[i] -= s->uu[k][i][j] * s->first[k][j];
        solve(s->uu[k], s->active[k], change);
        for (i = 0; i < P; i++)
            if (!s->active[k][i])
                s->first[k][i] = change[i];
        for (j = 0; j < NX; j++) {{
            for (i = 0; i < P; i++)
                column[i] = -s->ux[k][i][j];
            solve(s->uu[k], s->active[k], column);
            for (i = 0; i < P; i++)
                s->K[k][i][j] = s->active[k][i] ? 0.0 : column[i];
        }}
        for (i = 0; i < P; i++)
            for (change[i] = s->gu[k][i], j = 0; j < P; j++)
                change[i] += s->uu[k][i][j] * s->first[k][j];
        for (i = 0; i < NX; i++) {{
            for (j = 0; j < P; j++)
                for (K_uu[i][j] = s->ux[k][j][i], l = 0; l < P; l++)
                    K_uu[i][j] += s->K[k][l][i] * s->uu[k][l][j];
            for (pull[i] = gx[i], l = 0; l < P; l++)
                pull[i] += s->K[k][l][i] * change[l] + s->ux[k][l][i] * s->first[k][l];
        }}
        for (i = 0; i < NX; i++)
            for (j = 0; j < NX; j++)
                for (V[i][j] = xx[i][j], l = 0; l < P; l++)
                    V[i][j] += K_uu[i][l] * s->K[k][l][j] + s->K[k][l][i] * s->ux[k][l][j];
    }}
    for (k = 0; k < N; k++) {{
        double next[NX];
        for (i = 0; i < P; i++)
            for (s->du[k][i] = s->first[k][i], j = 0; j < NX; j++)
                s->du[k][i] += s->K[k][i][j] * dx[j];
        for (i = 0; i < P; i++) {{
            s->slope[k][i] = s->gu[k][i];
            for (j = 0; j < NX; j++)
                s->slope[k][i] += s->ux[k][i][j] * dx[j];
            for (j = 0; j < P; j++)
                s->slope[k][i] += s->uu[k][i][j] * s->du[k][j];
        }}
        for (i = 0; i < NX; i++) {{
            next[i] = 0.0;
            for (j = 0; j < NX; j++)
                next[i] += s->A[k][i][j] * dx[j];
            for (j = 0; j < P; j++)
                next[i] += s->B[k][i][j] * s->du[k][j];
        }}
        memcpy(dx, next, sizeof dx);
    }}
}}

int {name}_tick({name}_state *s, const double *position, const double *speed, const double *reference, double *effort)
{{
    double q[NQ];
    int i, k, set, settled = 0, status = 0;
    for (k = 0; k + 1 < N; k++) {{
        memcpy(s->u[k], s->u[k + 1], sizeof s->u[k]);
        memcpy(s->active[k], s->active[k + 1], sizeof s->active[k]);
    }}
    memcpy(q, s->q, sizeof q);
    for (i = 0; i < 4; i++)
        status = newton(q, position);
    memcpy(s->x[0], position, sizeof(double) * F);
    memcpy(s->x[0] + F, speed, sizeof(double) * F);
    {{
        double way[NQ];
        memcpy(way, q, sizeof way);
        for (k = 0; k < N && !status; k++)
            status = predict(way, s->x[k], s->u[k], s->x[k + 1], s->A[k], s->B[k]);
    }}
    memcpy(effort, s->u[0], sizeof(double) * P);
    if (status)
        return 1;
    memcpy(s->q, q, sizeof q);
    for (set = 0; set < {most} && !settled; set++) {{
        riccati(s, reference);
        settled = 1;
        for (k = 0; k < N; k++)
            for (i = 0; i < P; i++) {{
                double u = s->u[k][i] + s->du[k][i];
                int old = s->active[k][i], now = old;
                if (!old)
                    now = u < LOW[i] ? -1 : u > HIGH[i] ? 1 : 0;
                else if (old * s->slope[k][i] > 0.0)
                    now = 0;
                s->active[k][i] = now;
                settled = settled && now == old;
            }}
    }}
    for (k = 0; k < N; k++)
        for (i = 0; i < P; i++) {{
            double u = s->u[k][i] + s->du[k][i];
            s->u[k][i] = u < LOW[i] ? LOW[i] : u > HIGH[i] ? HIGH[i] : u;
        }}
    memcpy(effort, s->u[0], sizeof(double) * P);
    return settled ? 0 : 2;
}}
"""


class Sizes(NamedTuple):
    """Name and sizes of a controller."""

    name: str
    nq: int
    f: int  # coordinates
    p: int  # drives
    N: int  # steps
    h: float

    def fields(self) -> dict[str, Any]:
        more = {"NAME": self.name.upper(), "n": 2 * self.f, "rows": self.N + 1, "columns": 2 * self.f + self.p, "most": MOST_SETS}
        return {**self._asdict(), **more}


def header(s: Sizes, coordinates: Sequence[str], drives: Sequence[str]) -> str:
    """The header."""
    return HEADER.format(**{**s.fields(), "coordinates": ", ".join(coordinates), "drives": ", ".join(drives)})


def source(
    s: Sizes, codes: Sequence[str], programs: Mapping[str, Any], constants: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
) -> str:
    """The source: the equations, one step of the closing, and the controller."""
    places: dict[str, Any] = {key: ", ".join(repr(float(v)) for v in value) for key, value in numbers.items()}
    for word, wanted in (("model", ("q", "w", "u")), ("closed", ("q", "drive"))):
        program = programs[word]
        inputs, outputs = {b.name: b for b in program.inputs}, {b.name: b for b in program.outputs}
        places |= {f"{word}_in": sum(b.size for b in program.inputs), f"{word}_out": program.n_out}
        places |= {f"{word}_{name}": inputs[name].start for name in wanted}
        places |= {f"{word}_{name}": outputs[name].start for name in ("f", "D", "S") if name in outputs}
        places[f"{word}_near"] = _constants(inputs, constants)
        if word == "closed":
            places["closed_result"] = outputs["q"].start
    # the functions are used in this file alone
    texts = [code.replace("#ifdef __cplusplus\nextern \"C\"\n#endif\nint ", "static int ") for code in codes]
    return "\n".join([*texts, CONTROLLER.format(**{**s.fields(), **places})])


def _constants(inputs: Mapping[str, Any], constants: Mapping[str, np.ndarray]) -> str:
    """Statements that put constants into the inputs that a program has."""
    given = [(inputs[name].start + i, float(x)) for name, values in constants.items() if name in inputs for i, x in enumerate(values)]
    return "".join(f"    in[{place}] = {x!r};\n" for place, x in given)
