/* Numbers that callbacks leave for the thread that waits for them. */
#ifndef COUNTER_H
#define COUNTER_H

#include <pthread.h>

#include "fixture.h"

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
} counter;

#define COUNTER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static inline void count_up(counter *c)
{
    pthread_mutex_lock(&c->lock);
    c->count++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static inline void wait_count(counter *c, int count)
{
    pthread_mutex_lock(&c->lock);
    while (c->count < count)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static inline int count_of(counter *c)
{
    pthread_mutex_lock(&c->lock);
    int count = c->count;
    pthread_mutex_unlock(&c->lock);
    return count;
}

#endif
