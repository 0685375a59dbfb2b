/* Checks a cache and prints what it finds. */
#include <quire.h>

#include <stdio.h>

static void report(void *context, const quire_finding *finding)
{
    (void)context;
    printf("%s: %.*s: %.*s\n", quire_finding_name(finding->code), (int)finding->location.size,
           (const char *)finding->location.data, (int)finding->message.size,
           (const char *)finding->message.data);
}

int main(int argc, char **argv)
{
    quire_cache *cache;
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    size_t count;
    if (argc != 2 || quire_open(argv[1], NULL, &cache) != QUIRE_OK) return 2;
    if (quire_check(cache, 0, 0, report, NULL, NULL, &count) != QUIRE_OK) return 2;
    if (quire_stats(cache, &statistics) != QUIRE_OK) return 2;
    printf("%llu commits, %llu posts, %zu findings\n", (unsigned long long)statistics.generation,
           (unsigned long long)statistics.posts, count);
    quire_close(cache);
    return count == 0 ? 0 : 1;
}
