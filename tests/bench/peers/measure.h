/* Figures of a workload, for the benchmark's C clients: the contract is in tests/bench/src/lib.rs. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Calls in flight in the wide workloads. */
#define WIDTH 64
/* Seconds of warming up, and of measuring. */
#define WARM_UP 0.1
#define MEASURED 0.4
/* Sequential calls whose time is kept. */
#define TIMES_MAX 2000000

static double times_us[TIMES_MAX];

/* Whether a group of workloads is to be carried out. */
__attribute__((unused)) static int is_wanted(const char *group) {
    const char *only = getenv("BENCH_ONLY");
    size_t length = strlen(group);
    while (only != NULL && *only != '\0') {
        size_t word = strcspn(only, ",");
        if (word == length && memcmp(only, group, length) == 0) return 1;
        only += word + (only[word] == ',');
    }
    return getenv("BENCH_ONLY") == NULL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

__attribute__((unused)) static void print_wide(const char *name, size_t calls, double took, double cpu_s) {
    printf("{\"workload\":\"%s\",\"calls\":%zu,\"calls_per_s\":%.1f,\"cpu_us\":%.3f}\n", name, calls,
           (double)calls / took, cpu_s * 1e6 / (double)calls);
    fflush(stdout);
}

__attribute__((unused)) static void print_sequential(const char *name, size_t calls, double took, double cpu_s) {
    qsort(times_us, calls, sizeof times_us[0], by_size);
    printf("{\"workload\":\"%s\",\"calls\":%zu,\"calls_per_s\":%.1f,\"cpu_us\":%.3f,\"p50_us\":%.3f,\"p99_us\":%.3f}\n",
           name, calls, (double)calls / took, cpu_s * 1e6 / (double)calls, times_us[(calls - 1) / 2],
           times_us[(size_t)((double)(calls - 1) * 0.99)]);
    fflush(stdout);
}

#endif
