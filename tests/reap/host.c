/* A host for `cargo xtask reap`, in C: it does what its standard input says, a line at a time; docs/internals/reap.md has the words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trunkline.h>

static const trunkline_str none = {NULL, 0};

static trunkline_pool *pool;
static trunkline_queue *queue;
static uint64_t session, lease;
static trunkline_error *error;

/* Says what went wrong in place of an answer, and ends. */
static void check(trunkline_status status)
{
    if (status == TRUNKLINE_STATUS_OK)
        return;
    trunkline_str message = trunkline_error_message(error);
    printf("error %.*s\n", (int)message.len, message.ptr);
    exit(1);
}

static void open_pool(void)
{
    check(trunkline_pool_new(none, &pool, &error));
    check(trunkline_session_open(pool, TRUNKLINE_LITERAL("{\"id\":\"a\",\"servers\":[]}"), &session, &error));
}

/* `given` is a server's name and its configuration. */
static void acquire(char *given, int wait)
{
    char *config = strchr(given, ' ');
    if (!config)
        exit(2);
    *config++ = '\0';
    trunkline_str name = TRUNKLINE_STRING(given), server = TRUNKLINE_STRING(config);
    if (wait)
        check(trunkline_session_acquire(pool, session, name, server, none, &lease, &error));
    else
        check(trunkline_session_acquire_enqueue(pool, session, name, server, none, queue, 0, NULL, &error));
}

/* Says who supervises; the status is JSON without spaces. */
static void say_supervision(void)
{
    trunkline_buf *buf = NULL;
    check(trunkline_pool_status(pool, &buf, &error));
    trunkline_str text = trunkline_buf_str(buf);
    char *copy = malloc(text.len + 1);
    if (!copy)
        exit(3);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    puts(strstr(copy, "\"supervision\":\"supervisor\"") ? "supervisor" : "group");
    free(copy);
    trunkline_buf_free(buf);
}

int main(void)
{
    static char line[1 << 16];
    open_pool();
    check(trunkline_queue_new(&queue, &error));
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "connect ", 8) == 0)
            acquire(line + 8, 1);
        else if (strncmp(line, "begin ", 6) == 0)
            acquire(line + 6, 0);
        else if (strcmp(line, "call") == 0)
            check(trunkline_lease_call_tool_enqueue(pool, lease, TRUNKLINE_LITERAL("hang"), none, NULL, queue, 0, NULL, &error));
        else if (strcmp(line, "drain") == 0)
            check(trunkline_pool_drain_all_enqueue(pool, none, queue, 0, NULL, &error));
        say_supervision();
        fflush(stdout);
    }
    check(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &error));
    trunkline_pool_free(pool);
    trunkline_queue_free(queue);
    return 0;
}
