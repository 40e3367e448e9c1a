/* A clock of the day that jumps, for the processes into which this library is loaded (LD_PRELOAD).

   The file that CHAOS_CLOCK names holds a number of seconds, which is added to the time of the day;
   the monotonic clock and the times of files stay as they are. Deadlines of semaphores are in the
   time of the day, and the kernel knows the true one: the number is taken off them. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long jump(void) {
    const char *path = getenv("CHAOS_CLOCK");
    FILE *file = path ? fopen(path, "r") : NULL;
    long seconds = 0;
    if (file == NULL) return 0;
    if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
    fclose(file);
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
    int (*wait)(sem_t *, const struct timespec *);
    struct timespec true_deadline = *deadline;
    *(void **)&wait = dlsym(RTLD_NEXT, "sem_timedwait");
    true_deadline.tv_sec -= jump();
    return wait(semaphore, &true_deadline);
}
