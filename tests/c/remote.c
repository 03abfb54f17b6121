#define _GNU_SOURCE
#include "remote.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

enum { FLAGS_MAX = 16 };

extern char **environ;

/* A pipe whose ends no program inherits. */
static void make_pipe(int ends[2])
{
    CHECK(pipe(ends) == 0);
    CHECK(fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0);
}

pid_t start_piped(const char *program, const json *flags, int *to, int *from)
{
    pid_t pid;
    char *argv[FLAGS_MAX + 2] = {(char *)program};
    int input[2], output[2];
    posix_spawn_file_actions_t actions;
    CHECK(json_is(flags, JSON_ARRAY) && flags->count <= FLAGS_MAX);
    for (size_t i = 0; i < flags->count; i++)
        argv[i + 1] = (char *)json_text(flags->items[i]);
    make_pipe(input);
    make_pipe(output);
    CHECK(posix_spawn_file_actions_init(&actions) == 0);
    CHECK(posix_spawn_file_actions_adddup2(&actions, input[0], 0) == 0);
    CHECK(posix_spawn_file_actions_adddup2(&actions, output[1], 1) == 0);
    CHECK(posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    *to = input[1];
    *from = output[0];
    return pid;
}

void start_remote(remote *remote, const char *program, const json *flags)
{
    int output;
    remote->pid = start_piped(program, flags, &remote->input, &output);
    FILE *printed = fdopen(output, "r");
    CHECK(printed && fgets(remote->address, sizeof remote->address, printed));
    fclose(printed);
    remote->address[strcspn(remote->address, "\n")] = '\0';
}

void end_remote(remote *remote)
{
    int status;
    close(remote->input);
    kill(remote->pid, SIGKILL);
    CHECK(waitpid(remote->pid, &status, 0) == remote->pid);
}

char *visit_address(const char *address)
{
    static const char scheme[] = "http://", header[] = "\nlocation: ";
    static char answer[16384];
    char request[8192];
    char *path = NULL, *location = NULL;
    CHECK(strncmp(address, scheme, sizeof scheme - 1) == 0);
    const char *host = address + sizeof scheme - 1;
    const char *colon = strchr(host, ':');
    CHECK(colon && colon < host + strcspn(host, "/"));
    unsigned long port = strtoul(colon + 1, &path, 10);
    int host_length = (int)(path - host);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(stream >= 0 && connect(stream, (struct sockaddr *)&to, sizeof to) == 0);
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nhost: %.*s\r\n\r\n", path, host_length, host);
    CHECK(length > 0 && (size_t)length < sizeof request && write(stream, request, (size_t)length) == length);
    size_t got = 0;
    answer[0] = '\0';
    ssize_t count;
    /* The headers suffice: a connection may stay open after its answer. */
    while (!strstr(answer, "\r\n\r\n") && (count = read(stream, answer + got, sizeof answer - 1 - got)) > 0) {
        got += (size_t)count;
        answer[got] = '\0';
    }
    close(stream);
    char *found = strcasestr(answer, header);
    if (found) {
        found += sizeof header - 1;
        found[strcspn(found, "\r\n")] = '\0';
        location = strdup(found);
    }
    return location;
}
