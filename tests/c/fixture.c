#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <time.h>
#include <unistd.h>

int failures = STDERR_FILENO;

void fail_check(const char *file, int line, const char *what, const trunkline_error *err)
{
    dprintf(failures, "%s:%d: not so: %s\n", file, line, what);
    if (err) {
        trunkline_str json = trunkline_error_json(err);
        dprintf(failures, "  %.*s\n", (int)json.len, json.ptr);
    }
    fflush(NULL);
    _exit(1);
}

void check_failure(const char *file, int line, const char *what, trunkline_status wanted, trunkline_status got,
                   const trunkline_error *err)
{
    if (got != wanted || trunkline_error_code(err) != wanted || trunkline_error_message(err).len == 0) {
        dprintf(failures, "%s:%d: wanted status %d, got %d\n", file, line, (int)wanted, (int)got);
        fail_check(file, line, what, err);
    }
}

long number_from(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

long tests_run;
static const char *wanted_test;

bool is_wanted(const char *test)
{
    return !wanted_test || strcmp(test, wanted_test) == 0;
}

void begin_program(int argc, char **argv)
{
    wanted_test = argc > 1 ? argv[1] : NULL;
    alarm((unsigned)number_from("PROGRAM_SECONDS", 300));
    CHECK(trunkline_abi_version() >= TRUNKLINE_ABI_VERSION);
    if (!getenv("TRUNKLINE_TESTSERVER")) {
        fputs("TRUNKLINE_TESTSERVER is not set\n", stderr);
        exit(1);
    }
}

trunkline_str text_of(const char *text)
{
    return TRUNKLINE_TEXT(text, strlen(text));
}

bool text_is(trunkline_str text, const char *other)
{
    return text.len == strlen(other) && (text.len == 0 || memcmp(text.ptr, other, text.len) == 0);
}

bool text_has(trunkline_str text, const char *part)
{
    size_t length = strlen(part);
    for (size_t i = 0; i + length <= text.len; i++)
        if (memcmp(text.ptr + i, part, length) == 0)
            return true;
    return false;
}

json *take_json(trunkline_buf *buf)
{
    trunkline_str text = trunkline_buf_str(buf);
    json *value = json_parse(text.ptr, text.len);
    CHECK(value);
    trunkline_buf_free(buf);
    return value;
}

bool take_text(trunkline_buf *buf, const char *text)
{
    json *result = take_json(buf);
    bool is = json_is_text(json_get(json_at(json_get(result, "content"), 0), "text"), text);
    json_free(result);
    return is;
}

/* The pattern of a new name among the temporary files. */
static void make_pattern(char path[64])
{
    const char *folder = getenv("TMPDIR");
    int length = snprintf(path, 64, "%s/trunkline-c-XXXXXX", folder && *folder ? folder : "/tmp");
    CHECK(length > 0 && length < 64);
}

void make_folder(char path[64])
{
    make_pattern(path);
    CHECK(mkdtemp(path));
}

void make_log(char path[64])
{
    make_pattern(path);
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
}

char *server_config(const char *flags, const char *log)
{
    const char *format = "{\"command\":\"%s\",\"args\":[%s%s\"--start-log\",\"%s\"]}";
    const char *program = getenv("TRUNKLINE_TESTSERVER"), *comma = *flags ? "," : "";
    size_t room = strlen(format) + strlen(program) + strlen(flags) + strlen(log) + 2;
    char *text = malloc(room);
    CHECK(text);
    snprintf(text, room, format, program, flags, comma, log);
    return text;
}

scene open_scene(const char *pool_options, const char *flags)
{
    scene scene = {0};
    OK(trunkline_pool_new(text_of(pool_options), &scene.pool, &err));
    furnish_scene(&scene, flags);
    return scene;
}

void furnish_scene(scene *scene, const char *flags)
{
    trunkline_buf *report = NULL;
    make_log(scene->log);
    char *server = server_config(flags, scene->log);
    char *servers = malloc(strlen(server) + 16);
    CHECK(servers);
    sprintf(servers, "{\"s\":%s}", server);
    OK(trunkline_pool_reconcile(scene->pool, text_of(servers), &report, &err));
    trunkline_buf_free(report);
    trunkline_str options = TRUNKLINE_LITERAL("{\"id\":\"a\",\"servers\":[]}");
    OK(trunkline_session_open(scene->pool, options, &scene->session, &err));
    free(server);
    free(servers);
}

uint64_t acquire(const scene *scene)
{
    uint64_t lease = 0;
    trunkline_str none = {NULL, 0};
    OK(trunkline_session_acquire(scene->pool, scene->session, TRUNKLINE_LITERAL("s"), none, none, &lease, &err));
    CHECK(lease != 0);
    return lease;
}

void close_scene(scene *scene)
{
    OK(trunkline_pool_close(scene->pool, TRUNKLINE_DEFAULT, &err));
    CHECK(processes_of(scene->log) == 0);
    trunkline_pool_free(scene->pool);
    end_scene(scene);
}

void end_scene(scene *scene)
{
    UNTIL(processes_of(scene->log) == 0);
    unlink(scene->log);
}

/* A zombie counts while this process is its parent: nobody else would reap it. */
static bool is_running(long pid)
{
    char path[64], state = 'Z';
    long parent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    int read = fscanf(file, "%*d (%*[^)]) %c %ld", &state, &parent);
    fclose(file);
    return read == 2 && (state != 'Z' || parent == (long)getpid());
}

static int count_log(const char *log, bool running)
{
    char role[16];
    long pid;
    int count = 0;
    FILE *file = fopen(log, "r");
    CHECK(file);
    while (fscanf(file, "%ld %15s", &pid, role) == 2)
        count += running ? is_running(pid) : strcmp(role, "server") == 0;
    fclose(file);
    return count;
}

int processes_of(const char *log)
{
    return count_log(log, true);
}

int starts_of(const char *log)
{
    return count_log(log, false);
}

void pause_ms(int milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

long long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

void score(const char *row, long times)
{
    const char *path = getenv("TRUNKLINE_SCORES");
    FILE *file = path ? fopen(path, "a") : NULL;
    CHECK(file || !path);
    if (file) {
        CHECK(fprintf(file, "%s %ld\n", row, times) > 0);
        CHECK(fclose(file) == 0);
    }
}
