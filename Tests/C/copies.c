/*
 * Two copies of the library in one process: the second to open a cache is refused, other processes are not,
 * and nothing stale remains after a close, a fork, an exec or a kill.
 *
 *     copies LIBRARY FOLDER
 */
#include <quire.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct library {
    quire_status (*open)(const char *, const quire_cache_options *, quire_cache **);
    void (*close)(quire_cache *);
    quire_status (*generation)(quire_cache *, uint64_t *);
    quire_status (*last_error)(quire_error *);
};

static char cache_path[4096], copy_path[4096];

#define REQUIRE(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

static struct library load(const char *path)
{
    struct library library;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) fprintf(stderr, "%s\n", dlerror());
    REQUIRE(handle != NULL);
    *(void **)&library.open = dlsym(handle, "quire_open");
    *(void **)&library.close = dlsym(handle, "quire_close");
    *(void **)&library.generation = dlsym(handle, "quire_generation");
    *(void **)&library.last_error = dlsym(handle, "quire_last_error");
    return library;
}

static void copy_file(const char *from, const char *to)
{
    static char block[1 << 16];
    size_t count;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    REQUIRE(in != NULL && out != NULL);
    while ((count = fread(block, 1, sizeof block, in)) > 0) REQUIRE(fwrite(block, 1, count, out) == count);
    fclose(in);
    REQUIRE(fclose(out) == 0);
}

/* Starts a process that does as its function says; that says when it is ready. */
static pid_t start(void (*body)(int ready))
{
    int ends[2];
    char byte;
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(ends[0]);
        alarm(60);
        body(ends[1]);
        _exit(1);
    }
    close(ends[1]);
    REQUIRE(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    return child;
}

static void open_and_wait(int ready)
{
    struct library library = load(copy_path);
    quire_cache *cache;
    uint64_t now;
    REQUIRE(library.open(cache_path, NULL, &cache) == QUIRE_OK);
    REQUIRE(library.generation(cache, &now) == QUIRE_OK);
    REQUIRE(write(ready, "", 1) == 1);
    pause();
}

static int grandchild_ends[2];

/* Its child does not exec and outlives it. */
static void open_and_fork(int ready)
{
    struct library library = load(copy_path);
    quire_cache *cache;
    REQUIRE(library.open(cache_path, NULL, &cache) == QUIRE_OK);
    pid_t child = fork();
    if (child == 0) {
        uint64_t now;
        alarm(60);
        REQUIRE(library.generation(cache, &now) == QUIRE_FORKED);
        library.close(cache);
        REQUIRE(write(ready, "", 1) == 1);
        pause();
    }
    REQUIRE(write(grandchild_ends[1], &child, sizeof child) == sizeof child);
    pause();
}

static void wait_only(int ready)
{
    REQUIRE(write(ready, "", 1) == 1);
    pause();
}

static void end(pid_t process)
{
    int status;
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
}

int main(int argc, char **argv)
{
    quire_cache *cache = NULL, *other = NULL;
    quire_error error = QUIRE_ERROR_INIT;
    uint64_t now;
    pid_t process, grandchild;
    const char *library_path;
    if (argc != 3) return 2;
    library_path = argv[1];
    snprintf(cache_path, sizeof cache_path, "%s/cache.quire", argv[2]);
    snprintf(copy_path, sizeof copy_path, "%s/another-libquire.so", argv[2]);
    copy_file(library_path, copy_path);

    /* killed, with a child that lives on: before this process opens anything itself */
    REQUIRE(pipe(grandchild_ends) == 0);
    process = start(open_and_fork);
    REQUIRE(read(grandchild_ends[0], &grandchild, sizeof grandchild) == sizeof grandchild);
    end(process);

    struct library one = load(library_path), two = load(copy_path);
    REQUIRE(one.open != two.open);
    process = start(open_and_wait); /* another process is welcome */
    REQUIRE(one.open(cache_path, NULL, &cache) == QUIRE_OK);
    kill(grandchild, SIGKILL);

    REQUIRE(two.open(cache_path, NULL, &other) == QUIRE_BUSY);
    REQUIRE(other == NULL && two.last_error(&error) == QUIRE_OK);
    REQUIRE(strstr(error.message, "in this process") != NULL);
    REQUIRE(one.generation(cache, &now) == QUIRE_OK);
    REQUIRE(system("true") == 0);
    end(process);
    REQUIRE(two.open(cache_path, NULL, &other) == QUIRE_BUSY);

    /* closed, while a forked child lives on that has inherited everything */
    process = start(wait_only);
    one.close(cache);
    REQUIRE(two.open(cache_path, NULL, &other) == QUIRE_OK);
    REQUIRE(two.generation(other, &now) == QUIRE_OK);
    REQUIRE(one.open(cache_path, NULL, &cache) == QUIRE_BUSY);
    two.close(other);
    REQUIRE(one.open(cache_path, NULL, &cache) == QUIRE_OK);
    one.close(cache);
    end(process);
    printf("refused, and welcome again\n");
    return 0;
}
