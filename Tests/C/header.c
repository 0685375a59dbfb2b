/* quire_profiles.h and quire.h, as the strictest C99 or C++11 sees it; every _INIT macro; the numbers of the ABI. */
#include <quire_profiles.h>

#include <quire.h>          /* twice is fine */
#include <quire_profiles.h>
#include <stdio.h>

int main(void)
{
    quire_bytes literal = QUIRE_LITERAL("text");
    quire_error error = QUIRE_ERROR_INIT;
    quire_list list = QUIRE_LIST_INIT;
    quire_cache_options cache_options = QUIRE_CACHE_OPTIONS_INIT;
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    quire_feed_options feed_options = QUIRE_FEED_OPTIONS_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    quire_post_info post = QUIRE_POST_INFO_INIT;
    quire_profile_options profile_options = QUIRE_PROFILE_OPTIONS_INIT;
    quire_response response = QUIRE_RESPONSE_INIT;
    quire_parsed parsed = QUIRE_PARSED_INIT;
    int all = literal.size == 4 && error.struct_size == sizeof error
        && list.struct_size == sizeof list && cache_options.struct_size == sizeof cache_options
        && statistics.struct_size == sizeof statistics
        && feed_options.struct_size == sizeof feed_options && feed_options.first_page == 1
        && place.struct_size == sizeof place && place.kind == QUIRE_PLACE_HEAD
        && request.struct_size == sizeof request && answer.struct_size == sizeof answer
        && answer.post_size == sizeof(quire_post) && outcome.struct_size == sizeof outcome
        && policy.struct_size == sizeof policy && result.struct_size == sizeof result
        && info.struct_size == sizeof info && post.struct_size == sizeof post
        && profile_options.struct_size == sizeof profile_options && response.struct_size == sizeof response
        && parsed.struct_size == sizeof parsed;
    printf("a " QUIRE_BYTES_FMT "\n", QUIRE_BYTES_ARG(literal));
    return all && QUIRE_WRONG_THREAD == -16 ? 0 : 1;
}
