//! What a denylist is told: whom to keep out, and until when.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use sluicegate_core::{InvalidConfig, Network};

use super::list::List;
use crate::address_list::widened;

/// What a caller can be looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The client's network address.
    Address,
    /// What the client says its device is.
    Device,
    /// The user that has been authenticated.
    User,
    /// The app that has been authenticated.
    App,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Device => "device",
            Self::User => "user",
            Self::App => "app",
        }
    }

    /// For the log; the caller is not told what it was recognised by.
    pub(crate) const fn cause(self) -> &'static str {
        match self {
            Self::Address => "the address is on the denylist",
            Self::Device => "the device is on the denylist",
            Self::User => "the user is on the denylist",
            Self::App => "the app is on the denylist",
        }
    }

    /// Whether it is known only once the caller has been authenticated.
    pub(crate) const fn needs_principal(self) -> bool {
        matches!(self, Self::User | Self::App)
    }
}

/// Who is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whom {
    Network(Network),
    Named(Kind, Box<[u8]>),
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) whom: Whom,
    /// Since the Unix epoch; the greatest there is for those who stay for good.
    pub(crate) until: Duration,
}

/// As an entry is written in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    address: Option<Network>,
    device: Option<Box<str>>,
    user: Option<Box<str>>,
    app: Option<Box<str>>,
    until: Option<f64>,
}

/// Longer names are nobody's.
const LONGEST_NAME: usize = 256;

impl Entry {
    fn read(value: &Value) -> Result<Self, String> {
        let written = Written::deserialize(value).map_err(|error| error.to_string())?;
        let network = written
            .address
            .map(|network| Whom::Network(widened(network)));
        let named = |kind, name: Option<Box<str>>| {
            name.map(|name| Whom::Named(kind, name.into_boxed_bytes()))
        };
        let given = [
            network,
            named(Kind::Device, written.device),
            named(Kind::User, written.user),
            named(Kind::App, written.app),
        ];
        let mut given = given.into_iter().flatten();
        let (Some(whom), None) = (given.next(), given.next()) else {
            return Err("an entry has one of: address, device, user, app".to_owned());
        };
        if let Whom::Named(kind, name) = &whom
            && !(1..=LONGEST_NAME).contains(&name.len())
        {
            let kind = kind.name();
            return Err(format!("a {kind} has 1 to {LONGEST_NAME} bytes"));
        }
        let until = match written.until {
            None => Duration::MAX,
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .map_err(|_| "`until` is in seconds since 1970".to_owned())?,
        };
        Ok(Self { whom, until })
    }
}

/// A change of the list. Whoever reads one has read all of it: there are no half changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Takes the place of all there is.
    set: Option<Vec<Entry>>,
    remove: Vec<Entry>,
    add: Vec<Entry>,
}

impl Event {
    /// # Errors
    /// With a pointer to the first wrong entry, and how many more are wrong.
    pub(crate) fn read(event: &Value) -> Result<Self, InvalidConfig> {
        let wanted = "an object with `set`, `add` or `remove`, each a list of entries";
        let members = event.as_object().filter(|members| !members.is_empty());
        let members = members
            .ok_or_else(|| InvalidConfig::new("", "this changes nothing").expecting(wanted))?;
        let mut change = Self::default();
        for (name, entries) in members {
            let pointer = format!("/{name}");
            let list = entries
                .as_array()
                .ok_or_else(|| InvalidConfig::new(&pointer, "this is no list").expecting(wanted))?;
            let list = read_all(&pointer, list)?;
            match name.as_str() {
                "set" => change.set = Some(list),
                "add" => change.add = list,
                "remove" => change.remove = list,
                _ => {
                    let message = format!("there is no change `{name}`");
                    return Err(InvalidConfig::new(pointer, message).expecting(wanted));
                }
            }
        }
        Ok(change)
    }

    /// The list afterwards: first set, then removed from, then added to. What has ended is left out.
    pub(crate) fn change(self, before: &List, now: Duration) -> List {
        let mut list = match self.set {
            Some(_) => List::default(),
            None => before.clone(),
        };
        list.forget_ended(now);
        for entry in &self.remove {
            list.remove(&entry.whom);
        }
        let added = self.set.into_iter().flatten().chain(self.add);
        for entry in added.filter(|entry| entry.until > now) {
            list.add(entry);
        }
        list.settle();
        list
    }
}

fn read_all(pointer: &str, list: &[Value]) -> Result<Vec<Entry>, InvalidConfig> {
    let mut entries = Vec::with_capacity(list.len());
    let mut wrong = list
        .iter()
        .enumerate()
        .filter_map(|(index, value)| match Entry::read(value) {
            Ok(entry) => {
                entries.push(entry);
                None
            }
            Err(why) => Some((index, why)),
        });
    let Some((index, why)) = wrong.next() else {
        return Ok(entries);
    };
    let more = match wrong.count() {
        0 => String::new(),
        more => format!(" ({more} more are wrong)"),
    };
    Err(InvalidConfig::new(
        format!("{pointer}/{index}"),
        format!("{why}{more}"),
    ))
}
