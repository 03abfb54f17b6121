//! Numbers of lists.

use serde_json::json;
use trunkline_pool::catalog::ListKind;

use crate::{Pool, PoolOptions, SessionOptions};

/// SPEC 7.4: a list that is asked for after a change was told has its number, also where it had the
/// change before; no other list moves.
#[tokio::test]
async fn lists_reach_the_number_of_a_change_that_is_told_after_them() {
    let pool = Pool::new(PoolOptions::from_json(r#"{ "cache": "off" }"#).unwrap()).unwrap();
    let options = json!({ "id": "a", "servers": [] }).to_string();
    let session = pool.session(SessionOptions::from_json(&options).unwrap()).unwrap();
    let numbers = || [session.tools(), session.prompts()].map(|list| list.unwrap().revision());
    let [tools, prompts] = numbers();
    for round in 1..=2 {
        let told = session.core().number_of_change(ListKind::Tools);
        assert_eq!(told, tools + round);
        assert_eq!([numbers(), numbers()], [[told, prompts]; 2]);
    }
    pool.close().await.unwrap();
}
