//! Semantics of the API, which are redb's: each test states one property that users rely on. Where a result depends on
//! the shape of the tree, small pages make several levels out of few rows.

mod lifetimes;
mod names;
mod order;
mod ranges;
mod tables;
mod transactions;
mod types;
mod untyped;
