#define _POSIX_C_SOURCE 200809L
#include "provided.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A connection, and the process that serves it. */
typedef struct served {
    uint64_t connection;
    trunkline_pool *pool;
    pid_t pid;
    int input;
    FILE *output;
    pthread_t reader;
    struct served *next;
} served;

/* What is provided under one name. */
typedef struct {
    trunkline_pool *pool;
    json *flags;
    pthread_mutex_t lock;
    served *first;
} provided;

/* Once the connection is over nobody is told anything. */
static void *carry(void *data)
{
    served *it = data;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    trunkline_error *err = NULL;
    while ((length = getline(&line, &room, it->output)) > 0) {
        trunkline_str frame = {line, (size_t)length};
        if (trunkline_host_send(it->pool, it->connection, frame, &err) != TRUNKLINE_STATUS_OK)
            break;
    }
    free(line);
    trunkline_error_free(err);
    trunkline_host_close(it->pool, it->connection, NULL);
    return NULL;
}

static served *start(provided *of, uint64_t connection)
{
    served *it = calloc(1, sizeof *it);
    int output;
    CHECK(it);
    it->connection = connection;
    it->pool = of->pool;
    it->pid = start_piped(getenv("TRUNKLINE_TESTSERVER"), of->flags, &it->input, &output);
    it->output = fdopen(output, "r");
    CHECK(it->output && pthread_create(&it->reader, NULL, carry, it) == 0);
    it->next = of->first;
    of->first = it;
    return it;
}

static void receive(void *data, uint64_t connection, trunkline_str frame)
{
    provided *of = data;
    pthread_mutex_lock(&of->lock);
    served *it = of->first;
    while (it && it->connection != connection)
        it = it->next;
    if (!it)
        it = start(of, connection);
    pthread_mutex_unlock(&of->lock);
    /* A server that is gone says so by the end of its output. */
    for (size_t done = 0; done < frame.len;) {
        ssize_t written = write(it->input, frame.ptr + done, frame.len - done);
        if (written < 0)
            return;
        done += (size_t)written;
    }
    if (write(it->input, "\n", 1) < 0)
        return;
}

static void closed(void *data, uint64_t connection)
{
    provided *of = data;
    int status;
    pthread_mutex_lock(&of->lock);
    served **place = &of->first;
    while (*place && (*place)->connection != connection)
        place = &(*place)->next;
    served *it = *place;
    if (it)
        *place = it->next;
    pthread_mutex_unlock(&of->lock);
    if (!it)
        return;
    kill(it->pid, SIGKILL);
    CHECK(pthread_join(it->reader, NULL) == 0);
    CHECK(waitpid(it->pid, &status, 0) == it->pid);
    close(it->input);
    fclose(it->output);
    free(it);
}

static void destroyed(void *data)
{
    provided *of = data;
    pthread_mutex_destroy(&of->lock);
    json_free(of->flags);
    free(of);
}

trunkline_status provide_server(run *run, uint64_t session, const char *name, const json *flags, trunkline_error **err)
{
    provided *of = calloc(1, sizeof *of);
    CHECK(of && pthread_mutex_init(&of->lock, NULL) == 0);
    of->pool = run->pool;
    of->flags = json_copy(flags);
    json_put(of->flags, NULL, json_new_text("--start-log"));
    json_put(of->flags, NULL, json_new_text(run->log));
    return trunkline_session_provide(run->pool, session, text_of(name), receive, closed, of, destroyed, err);
}
