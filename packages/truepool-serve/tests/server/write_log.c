/* Preloaded into a process: every write and sync to a file of one folder is also noted, in
   order, in a log. From the log the disk can be made as a power cut would have left it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define FILES 4096
static char *names[FILES]; /* of open files in the folder, by descriptor */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int), (*real_fdatasync)(int), (*real_ftruncate)(int, off_t);
static int (*real_open)(const char *, int, ...), (*real_close)(int), (*real_unlink)(const char *);

__attribute__((constructor)) static void start(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    real_open = dlsym(RTLD_NEXT, "open");
    real_close = dlsym(RTLD_NEXT, "close");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    if (getenv("WRITE_LOG"))
        log_file = real_open(getenv("WRITE_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static int in_folder(const char *path) {
    const char *folder = getenv("WRITE_LOG_FOLDER");
    return log_file >= 0 && folder && path && !strncmp(path, folder, strlen(folder));
}

/* kind, length of the name, offset, length of the data; the name; the data */
static void note(char kind, const char *path, int64_t offset, const void *data, int64_t size) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    int64_t head[4] = {kind, (int64_t)strlen(name), offset, data ? size : 0};
    real_write(log_file, head, sizeof head);
    real_write(log_file, name, strlen(name));
    if (data) real_write(log_file, data, size);
}

#define KNOWN(fd) ((fd) >= 0 && (fd) < FILES && names[fd])
#define DONE(fd, kind, offset, data, call)                                                      \
    if (!KNOWN(fd)) return call;                                                                \
    pthread_mutex_lock(&lock);                                                                  \
    __typeof__(call) result = call;                                                             \
    int error = errno;                                                                          \
    if (result >= 0) note(kind, names[fd], offset, data, (int64_t)result);                      \
    pthread_mutex_unlock(&lock);                                                                \
    errno = error;                                                                              \
    return result;

ssize_t write(int fd, const void *data, size_t size) {
    DONE(fd, 'w', lseek(fd, 0, SEEK_CUR) - result, data, real_write(fd, data, size))
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    DONE(fd, 'w', at, data, real_pwrite(fd, data, size, at))
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    DONE(fd, 'w', at, data, real_pwrite(fd, data, size, at))
}
int fsync(int fd) { DONE(fd, 's', 0, NULL, real_fsync(fd)) }
int fdatasync(int fd) { DONE(fd, 's', 0, NULL, real_fdatasync(fd)) }
int ftruncate(int fd, off_t size) { DONE(fd, 't', size, NULL, real_ftruncate(fd, size)) }
int ftruncate64(int fd, off64_t size) { DONE(fd, 't', size, NULL, real_ftruncate(fd, size)) }

static int opened(const char *path, int fd) {
    if (KNOWN(fd)) { free(names[fd]); names[fd] = NULL; }
    if (fd >= 0 && fd < FILES && in_folder(path)) names[fd] = strdup(path);
    return fd;
}
#define OPEN(name)                                                                              \
    int name(const char *path, int flags, ...) {                                                \
        va_list rest;                                                                           \
        va_start(rest, flags);                                                                  \
        int mode = va_arg(rest, int);                                                           \
        va_end(rest);                                                                           \
        return opened(path, real_open(path, flags, mode));                                      \
    }
OPEN(open)
OPEN(open64)
int close(int fd) {
    if (KNOWN(fd)) { free(names[fd]); names[fd] = NULL; }
    return real_close(fd);
}
int unlink(const char *path) {
    if (!in_folder(path)) return real_unlink(path);
    pthread_mutex_lock(&lock);
    int result = real_unlink(path);
    if (result == 0) note('u', path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}
