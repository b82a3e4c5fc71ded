//! What a user of the router sees.

mod conditions;
mod explain;
mod law;
mod matching;
mod mistakes;
mod normal_form;
mod support;
