//! Responses to answers.
#![cfg(feature = "profiles")]
use quire::profiles::{names, Asked, Profile, ProfileOptions, Response};
use quire::{Order, Sizes, Status};

#[test]
fn parses() {
    let stack = Profile::open_with("stackexchange", &ProfileOptions { key: "score", ..Default::default() }).unwrap();
    let body = br#"{"items": [{"question_id": 3, "score": -7}], "has_more": false, "page": 2, "total": 31,
        "backoff": 10, "quota_remaining": 299}"#;
    let parsed = stack.parse(&Response { body, ..Response::default() }).unwrap();
    drop(stack);
    assert_eq!((parsed.len(), parsed.is_empty(), parsed.asked()), (1, false, Asked::Below));
    assert_eq!((parsed.page(), parsed.pages(), parsed.total(), parsed.quota()), (Some(2), None, Some(31), Some(299)));
    assert_eq!((parsed.backoff().unwrap().as_secs(), parsed.quota_renewal()), (10, None));
    assert!(parsed.asked_id().is_empty());
    let _ = (parsed.own(), parsed.answer());
}

#[test]
fn refuses() {
    let known = names().unwrap();
    assert!(known.len() >= 27 && known.contains(&"mastodon".to_owned()));
    let refused = |status, words, error: Option<quire::Error>| {
        let error = error.unwrap();
        assert!(error.status == status && error.message.contains(words), "{error:?}");
    };
    refused(Status::NotFound, "mastodon", Profile::open("mastdon").err());
    refused(Status::BadArgument, "itemz", Profile::open("{\"itemz\": 1}").err());
    let github = Profile::open("github").unwrap();
    let parse = |body: &[u8], status| github.parse(&Response { body, status, ..Response::default() }).err();
    refused(Status::BadResponse, "response: item 1: no id", parse(b"[{}]", 200));
    refused(Status::BadResponse, "404", parse(b"[]", 404));
    refused(Status::BadArgument, "status", parse(b"[]", 4));
    let own = r#"{"name": "own", "id": {"path": "k"}, "paging": "page", "sizes": 25, "order": "bump"}"#;
    let options = Profile::open(own).unwrap().feed_options().unwrap();
    assert_eq!((options.order, options.sizes), (Order::Bump, Sizes::Fixed(25)));
}
