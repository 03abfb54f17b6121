/* From the load of the library until its pool has carried out a command, each time in a process of its own that never had it. What is
 * loaded is the file that BENCH_LIBRARY names. */
#define _GNU_SOURCE
#include "measure.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <trunkline.h>
#include <unistd.h>

#define HOSTS 20

static trunkline_str str(const char *text) {
    return TRUNKLINE_TEXT(text, strlen(text));
}

/* The function of that name and type, or the end. */
#define FOUND(name) \
    __extension__(__typeof__(&name)) dlsym(library, #name)

static double load(const char *path) {
    double began = now();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    __typeof__(&trunkline_pool_new) pool_new = FOUND(trunkline_pool_new);
    __typeof__(&trunkline_pool_reconcile) reconcile = FOUND(trunkline_pool_reconcile);
    trunkline_pool *pool = NULL;
    trunkline_error *error = NULL;
    trunkline_buf *report = NULL;
    if (pool_new(str(""), &pool, &error) != TRUNKLINE_STATUS_OK) _exit(1);
    if (reconcile(pool, str("{}"), &report, &error) != TRUNKLINE_STATUS_OK) _exit(1);
    return now() - began;
}

int main(void) {
    const char *path = getenv("BENCH_LIBRARY");
    double started = now(), before = cpu();
    for (size_t host = 0; path != NULL && host < HOSTS; host++) {
        int ends[2], status = 1;
        double took = 0;
        if (pipe(ends) != 0) return 1;
        pid_t pid = fork();
        if (pid == 0) {
            took = load(path);
            _exit(write(ends[1], &took, sizeof took) != sizeof took);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) return 1;
        if (read(ends[0], &took, sizeof took) != sizeof took) return 1;
        close(ends[0]);
        close(ends[1]);
        times_us[host] = took * 1e6;
    }
    if (path == NULL) return 1;
    print_sequential("pool-ready", HOSTS, now() - started, cpu() - before);
    return 0;
}
