/* libFuzzer without coverage: what the program reaches is not measured, so that it runs as fast as it is, and
 * libFuzzer only changes the inputs it is given. Of those it keeps and chooses by the new counters that each
 * raises; here each of them, QUIRE_FUZZ_INPUTS in number, raises one of its own. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t counters[4096];

int __real_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static size_t inputs, given;
    const char *number = getenv("QUIRE_FUZZ_INPUTS"); /* none: an input that was found is repeated */
    if (inputs == 0 && number) given = strtoul(number, NULL, 10) + 1; /* the first one is empty */
    if (inputs < given && inputs < sizeof counters) counters[inputs++] = 1;
    return __real_LLVMFuzzerTestOneInput(bytes, count);
}
