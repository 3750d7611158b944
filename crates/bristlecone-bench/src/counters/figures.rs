//! Figures by name, in the order in which they were set.

use serde_json::{Map, Value};

/// Named figures; null stands for what the engine does not have.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Figures {
    by_name: Map<String, Value>,
}

impl Figures {
    /// Sets a figure, rounded to four decimals; a whole number is kept as one.
    pub(crate) fn set(&mut self, name: &str, figure: f64) {
        let rounded = (figure * 1e4).round() / 1e4;
        self.set_value(name, Value::from(rounded));
    }

    /// Sets a figure that is a count.
    pub(crate) fn set_count(&mut self, name: &str, count: u64) {
        self.set_value(name, Value::from(count));
    }

    /// Sets a figure as it is.
    pub(crate) fn set_value(&mut self, name: &str, value: Value) {
        self.by_name.insert(name.to_owned(), value);
    }

    /// The figure of that name, null if there is none.
    pub(crate) fn get(&self, name: &str) -> Value {
        self.by_name.get(name).cloned().unwrap_or(Value::Null)
    }

    /// Names and figures, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.by_name.iter()
    }

    /// The figures of an object made by [`Figures::to_json`].
    pub(crate) fn from_json(object: &Value) -> Figures {
        let mut figures = Figures::default();
        figures.take(String::new(), object);
        figures
    }

    fn take(&mut self, name: String, value: &Value) {
        let Some(object) = value.as_object() else {
            self.set_value(&name, value.clone());
            return;
        };
        for (part, value) in object {
            let name = if name.is_empty() {
                part.clone()
            } else {
                format!("{name}.{part}")
            };
            self.take(name, value);
        }
    }

    /// One object; each dot of a name opens an object of its own.
    pub(crate) fn to_json(&self) -> Value {
        let mut object = Map::new();
        for (name, value) in &self.by_name {
            place(&mut object, name, value);
        }
        Value::Object(object)
    }
}

fn place(object: &mut Map<String, Value>, name: &str, value: &Value) {
    let Some((head, rest)) = name.split_once('.') else {
        object.insert(name.to_owned(), value.clone());
        return;
    };
    let inner = object
        .entry(head)
        .or_insert_with(|| Value::Object(Map::new()));
    let inner = inner
        .as_object_mut()
        .expect("no figure's name is the beginning of another's");
    place(inner, rest, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_nest_and_the_order_is_kept() {
        let mut figures = Figures::default();
        figures.set("b.z", 1.234_56);
        figures.set_count("b.a", 7);
        figures.set_value("a.x.y", Value::Null);
        assert_eq!(
            figures.to_json().to_string(),
            r#"{"b":{"z":1.2346,"a":7},"a":{"x":{"y":null}}}"#
        );
        assert_eq!(Figures::from_json(&figures.to_json()), figures);
    }
}
