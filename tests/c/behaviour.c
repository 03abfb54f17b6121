/*
 * The behaviour suite through the C interface: every case of the folder TRUNKLINE_BEHAVIOUR, one line for each, and a closing line.
 * An argument runs the cases whose name holds it; arguments after `--without` leave out those whose name holds one. Several processes share the cases, which wait more than they compute.
 */
#define _POSIX_C_SOURCE 200809L
#include "case.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 6 };

typedef struct {
    size_t passed;
    size_t failed;
} tally;

/* Members that a case may have. */
static bool is_known(const char *name)
{
    static const char *const all[] = {"name", "spec", "options", "remotes", "servers", "steps", "after"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], name) == 0)
            return true;
    return false;
}

static bool run_case(const json *the_case)
{
    static run run;
    const char *name = json_text(json_get(the_case, "name"));
    const json *steps = json_get(the_case, "steps");
    set_up(&run, the_case);
    for (size_t i = 0; i < the_case->count; i++)
        if (!is_known(the_case->names[i]))
            fail(&run, "the member `%s` is not known", the_case->names[i]);
    if (!json_is(steps, JSON_ARRAY))
        fail(&run, "it has no steps");
    size_t step = 0;
    while (!run.problem[0] && step < steps->count && run_step(&run, steps->items[step]))
        step++;
    bool steps_held = !run.problem[0];
    tear_down(&run);
    if (run.problem[0] && steps_held)
        printf("FAILED %s: at the end: %s\n", name, run.problem);
    else if (run.problem[0])
        printf("FAILED %s: step %zu: %s\n", name, step + 1, run.problem);
    else
        printf("ok %s\n", name);
    fflush(stdout);
    return !run.problem[0];
}

static json *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    char *text = malloc((size_t)size + 1);
    CHECK(size >= 0 && text);
    rewind(file);
    size_t length = fread(text, 1, (size_t)size, file);
    json *value = json_parse(text, length);
    fclose(file);
    free(text);
    if (!value)
        fprintf(stderr, "%s is not JSON\n", path);
    CHECK(value);
    return value;
}

static int only_json(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".json") == 0;
}

static bool is_wanted_case(const char *name, char **arguments)
{
    bool without = *arguments && strcmp(*arguments, "--without") == 0;
    if (!*arguments)
        return true;
    for (char **part = arguments + without; *part; part++)
        if (strstr(name, *part))
            return !without;
    return without;
}

/* Runs every case whose turn it is: one of so many, beginning with that one. */
static tally run_cases(const char *folder, char **arguments, size_t turn)
{
    struct dirent **files;
    tally tally = {0, 0};
    size_t number = 0;
    int count = scandir(folder, &files, only_json, alphasort);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        json *cases = read_file(path);
        size_t length = json_is(cases, JSON_ARRAY) ? cases->count : 1;
        for (size_t k = 0; k < length; k++) {
            const json *the_case = json_is(cases, JSON_ARRAY) ? cases->items[k] : cases;
            if (!is_wanted_case(json_text(json_get(the_case, "name")), arguments) || number++ % WORKERS != turn)
                continue;
            run_case(the_case) ? tally.passed++ : tally.failed++;
        }
        json_free(cases);
        free(files[i]);
    }
    free(files);
    return tally;
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TRUNKLINE_BEHAVIOUR");
    tally all = {0, 0}, one;
    int results[2], status, broken = 0;
    CHECK(argc > 0 && pipe(results) == 0);
    for (size_t turn = 0; turn < WORKERS; turn++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            begin_program(1, argv);
            one = run_cases(folder ? folder : "../behaviour", argv + 1, turn);
            CHECK(write(results[1], &one, sizeof one) == sizeof one);
            exit(0);
        }
    }
    close(results[1]);
    while (wait(&status) > 0)
        broken |= status;
    while (read(results[0], &one, sizeof one) == sizeof one) {
        all.passed += one.passed;
        all.failed += one.failed;
    }
    printf("%zu passed, %zu failed\n", all.passed, all.failed);
    return broken || all.failed || !all.passed;
}
