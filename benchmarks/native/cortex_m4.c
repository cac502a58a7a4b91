/*
 * Runs the exported step and one kernel on a Cortex-M4 without an operating system: prints, through semihosting, instructions per call,
 * status words and positions. Under qemu with -icount shift=0 every instruction takes 1 ns and SysTick counts every 40 ns.
 */
#include <stdint.h>
#include "model.h"

#define TICKS ((volatile uint32_t *)0xE000E010) /* control, reload, value */
#define PER_TICK 40
#define FORWARDS 500
#define STEPS 100

void reset(void);
void *_sbrk(int n);
int *__errno(void);

extern uint32_t stack_top;
__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)&stack_top, (void *)(uintptr_t)reset};

static void semihosting(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(const char *label, long number)
{
    char text[16], *p = text + 15;
    const int negative = number < 0;
    *p = 0;
    *--p = '\n';
    if (negative) number = -number;
    do *--p = (char)('0' + number % 10);
    while (number /= 10);
    if (negative) *--p = '-';
    semihosting(4, label);
    semihosting(4, p);
}

/* What the mathematical library of newlib asks for and never uses here. */
void *_sbrk(int n)
{
    (void)n;
    return (void *)-1;
}

int *__errno(void)
{
    static int number;
    return &number;
}

static uint32_t since(uint32_t before)
{
    return (before - TICKS[2]) & 0xFFFFFF;
}

__attribute__((noinline)) static void run(void)
{
    static REAL q[model_nq], v[model_nv], x[model_forward_inputs], y[model_forward_outputs], near_[model_nq + 1];
    REAL t = 0;
    uint32_t before;
    int i, k, status = 0;
    TICKS[1] = 0xFFFFFF;
    TICKS[2] = 0;
    TICKS[0] = 5;
    for (i = 0; i < model_nq; i++) x[model_forward_in_q + i] = q[i] = model_start_q[i];
    before = TICKS[2];
    for (k = 0; k < FORWARDS; k++) {
        x[model_forward_in_v] = (REAL)k * (REAL)1e-3;
        status |= model_forward(x, y);
    }
    print("forward ", (long)since(before) * PER_TICK / FORWARDS);
    before = TICKS[2];
    for (k = 0; k < STEPS; k++) status |= model_step(q, v, 0, &t, (REAL)1e-3, near_, 0);
    print("step ", (long)since(before) * PER_TICK / STEPS);
    print("status ", status);
    for (i = 0; i < model_nq; i++) print("q ", (long)(q[i] * (REAL)1e6));
    semihosting(0x18, (const void *)0x20026); /* end */
    for (;;) {
    }
}

void reset(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* the floating-point unit on, before any function saves its registers */
    __asm__ volatile("dsb; isb");
    run();
}
