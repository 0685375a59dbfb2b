#include "peer.h"

__attribute__((aligned(64))) uint64_t peer_sum(const uint8_t *bytes, size_t size) {
    uint64_t sum = size, word;
    while (size >= 8) {
        __builtin_memcpy(&word, bytes, 8);
        sum += word;
        bytes += 8;
        size -= 8;
    }
    word = 0;
    __builtin_memcpy(&word, bytes, size);
    return sum + word;
}
