/*
 * Servers that no one here wrote: npm's server-everything (also behind its package runner), PyPI's mcp-server-time and mcp-server-git.
 *
 * TRUNKLINE_REAL_SERVERS names the file with their configurations; `cargo xtask test` installs them and sets it. Without it nothing is
 * run, and the program says so; in CI that is a failure.
 *
 * SPEC 2.1, 5.1, 9.8.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/types.h>

#include "fixture.h"

/* Processes of one server, far more than any of these has. */
enum { FAMILY_MAX = 64 };

static json *servers;

static json *read_servers(const char *path)
{
    char text[65536];
    FILE *file = fopen(path, "r");
    CHECK(file);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    CHECK(length < sizeof text);
    json *value = json_parse(text, length);
    CHECK(value);
    return value;
}

static uint64_t session_named(trunkline_pool *pool, const char *options)
{
    uint64_t session = 0;
    OK(trunkline_session_open(pool, text_of(options), &session, &err));
    return session;
}

static uint64_t lease_on(trunkline_pool *pool, uint64_t session, const char *server)
{
    char *config = json_write(json_get(servers, server));
    uint64_t lease = 0;
    CHECK(config && json_get(servers, server));
    OK(trunkline_session_acquire(pool, session, text_of(server), text_of(config), text_of(""), &lease, &err));
    free(config);
    return lease;
}

static json *call(trunkline_pool *pool, uint64_t lease, const char *tool, const char *arguments)
{
    trunkline_buf *buf = NULL;
    OK(trunkline_lease_call_tool(pool, lease, text_of(tool), text_of(arguments), NULL, &buf, &err));
    return take_json(buf);
}

static bool first_text_has(json *result, const char *part)
{
    bool has = strstr(json_text(json_get(json_at(json_get(result, "content"), 0), "text")), part) != NULL;
    json_free(result);
    return has;
}

/* The process of the only entry of a server: the leader of a group that its wrapper's children are in too. */
static pid_t leader_of(trunkline_pool *pool, const char *server)
{
    trunkline_buf *buf = NULL;
    OK(trunkline_pool_status(pool, &buf, &err));
    json *status = take_json(buf);
    json *entries = json_get(json_get(json_get(status, "servers"), server), "entries");
    CHECK(entries && entries->count == 1);
    pid_t pid = (pid_t)json_number(json_get(json_at(entries, 0), "pid"));
    json_free(status);
    CHECK(pid > 1);
    return pid;
}

/* What `/proc` says in `stat` after the name: the letter of the state and the parent. */
static bool state_and_parent(pid_t pid, char *state, pid_t *parent)
{
    char path[64], line[1024] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *stat = fopen(path, "r");
    if (stat == NULL)
        return false;
    size_t length = fread(line, 1, sizeof line - 1, stat);
    fclose(stat);
    line[length] = '\0';
    const char *name_end = strrchr(line, ')');
    long number = 0;
    if (name_end == NULL || sscanf(name_end + 1, " %c %ld", state, &number) != 2)
        return false;
    *parent = (pid_t)number;
    return true;
}

static bool runs(pid_t pid)
{
    char state;
    pid_t parent;
    return state_and_parent(pid, &state, &parent) && state != 'Z';
}

/* Puts the leader and everything below it into `found`, whatever session or group it went to; how many. */
static size_t family_of(pid_t leader, pid_t found[FAMILY_MAX])
{
    size_t count = 0;
    found[count++] = leader;
    for (size_t at = 0; at < count; at++) {
        DIR *table = opendir("/proc");
        CHECK(table != NULL);
        for (struct dirent *entry = readdir(table); entry != NULL; entry = readdir(table)) {
            pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent = 0;
            char state;
            if (pid > 1 && state_and_parent(pid, &state, &parent) && parent == found[at]) {
                CHECK(count < FAMILY_MAX);
                found[count++] = pid;
            }
        }
        closedir(table);
    }
    return count;
}

/* `members` is how many processes the server is at least. */
static void close_and_find_nothing(trunkline_pool *pool, const char *server, size_t members)
{
    pid_t family[FAMILY_MAX];
    pid_t leader = leader_of(pool, server);
    size_t count = family_of(leader, family);
    CHECK(count >= members && runs(leader));
    OK(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &err));
    for (size_t at = 0; at < count; at++)
        CHECK(!runs(family[at]));
    CHECK(kill(-leader, 0) == -1 && errno == ESRCH);
    trunkline_pool_free(pool);
}

/* The tools that the installed version has for a client without handlers: three more come with sampling and elicitation. */
enum { EVERYTHING_TOOLS = 14 };

static json *tools_of(trunkline_pool *pool, uint64_t session)
{
    trunkline_buf *buf = NULL;
    OK(trunkline_session_tools(pool, session, &buf, &err));
    return take_json(buf);
}

static size_t tool_count(trunkline_pool *pool, uint64_t session)
{
    json *tools = tools_of(pool, session);
    size_t count = tools->count;
    json_free(tools);
    return count;
}

/* SPEC 7.2, 7.4: the server announces changes of its tools while it starts; afterwards the views are equal. */
static void both_see_all_tools(trunkline_pool *pool, uint64_t a, uint64_t b)
{
    UNTIL(tool_count(pool, a) == EVERYTHING_TOOLS && tool_count(pool, b) == EVERYTHING_TOOLS);
    json *of_a = tools_of(pool, a), *of_b = tools_of(pool, b);
    CHECK(json_equal(of_a, of_b));
    json_free(of_a);
    json_free(of_b);
}

static void two_sessions_share_server_everything(void)
{
    trunkline_pool *pool = NULL;
    OK(trunkline_pool_new(text_of("{}"), &pool, &err));
    uint64_t a = session_named(pool, "{\"id\":\"a\",\"servers\":[]}"), b = session_named(pool, "{\"id\":\"b\",\"servers\":[]}");
    uint64_t of_a = lease_on(pool, a, "everything"), of_b = lease_on(pool, b, "everything");
    CHECK(first_text_has(call(pool, of_a, "echo", "{\"message\":\"one\"}"), "one"));
    CHECK(first_text_has(call(pool, of_b, "echo", "{\"message\":\"two\"}"), "two"));
    both_see_all_tools(pool, a, b);
    close_and_find_nothing(pool, "everything", 1);
}

static void one_call_of(const char *server, const char *tool, const char *arguments, const char *wanted, size_t members)
{
    trunkline_pool *pool = NULL;
    OK(trunkline_pool_new(text_of("{}"), &pool, &err));
    uint64_t session = session_named(pool, "{\"id\":\"a\",\"servers\":[]}");
    uint64_t lease = lease_on(pool, session, server);
    CHECK(first_text_has(call(pool, lease, tool, arguments), wanted));
    close_and_find_nothing(pool, server, members);
}

static void nothing_is_left_of_a_server_behind_a_package_runner(void)
{
    one_call_of("everything_npx", "echo", "{\"message\":\"hi\"}", "hi", 2);
}

static void the_time_server_answers(void)
{
    one_call_of("time", "get_current_time", "{\"timezone\":\"Europe/Paris\"}", "Europe/Paris", 1);
}

static void the_git_server_answers(void)
{
    json *args = json_get(json_get(servers, "git"), "args");
    json *arguments = json_new(JSON_OBJECT);
    CHECK(args && args->count >= 2);
    json_put(arguments, "repo_path", json_copy(json_at(args, args->count - 1)));
    char *text = json_write(arguments);
    one_call_of("git", "git_status", text, "note.txt", 1);
    free(text);
    json_free(arguments);
}

int main(int argc, char **argv)
{
    const char *path = getenv("TRUNKLINE_REAL_SERVERS");
    begin_program(argc, argv);
    if (path == NULL) {
        puts("NOT RUN: TRUNKLINE_REAL_SERVERS is not set");
        return getenv("CI") != NULL;
    }
    servers = read_servers(path);
    RUN(two_sessions_share_server_everything);
    RUN(nothing_is_left_of_a_server_behind_a_package_runner);
    RUN(the_time_server_answers);
    RUN(the_git_server_answers);
    json_free(servers);
    return 0;
}
