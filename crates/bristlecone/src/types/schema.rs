//! What the catalogue says about a table: the types of its keys and values, and who can order the keys.

use crate::error::Corruption;

use super::{Key, KeyOrder, Shape, TypeName, Value, varint};

/// Name and shape of one type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeSchema {
    /// Name of the type.
    pub name: TypeName,
    /// Shape of its encoding.
    pub shape: Shape,
}

impl TypeSchema {
    /// Schema of a type.
    ///
    /// # Panics
    /// If the type nests deeper than [`Shape::DEPTH_MAX`]: such a table could not be opened again.
    pub fn of<V: Value>() -> Self {
        let (name, shape) = (V::type_name(), V::shape());
        assert!(
            shape.depth() <= Shape::DEPTH_MAX,
            "type {} nests deeper than {} levels",
            name.name(),
            Shape::DEPTH_MAX
        );
        Self { name, shape }
    }

    /// Appends the stored form: name and shape, each after its length.
    fn encode(&self, out: &mut Vec<u8>) {
        let mut part = Vec::new();
        self.name.encode(&mut part);
        varint::push_len(part.len(), out);
        out.append(&mut part);
        self.shape.encode(&mut part);
        varint::push_len(part.len(), out);
        out.append(&mut part);
    }

    /// Takes a stored type schema off the front of `data`.
    fn take(data: &mut &[u8]) -> Result<Self, Corruption> {
        let name = TypeName::decode(take_part(data)?)?;
        let shape = Shape::decode(take_part(data)?)?;
        Ok(Self { name, shape })
    }
}

/// Takes a length and as many bytes off the front of `data`.
fn take_part<'a>(data: &mut &'a [u8]) -> Result<&'a [u8], Corruption> {
    let cut_off = || Corruption::new("table schema is cut off");
    let len = varint::take_len(data).ok_or_else(cut_off)?;
    let (part, rest) = data.split_at_checked(len).ok_or_else(cut_off)?;
    *data = rest;
    Ok(part)
}

/// Types of a table, and how it is ordered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableSchema {
    key: TypeSchema,
    value: TypeSchema,
    order: KeyOrder,
    // Set in multimaps only, whose values are ordered too.
    value_order: Option<KeyOrder>,
}

/// First byte of every stored table schema: the layout of the rest.
const SCHEMA_LAYOUT: u8 = 1;
/// In place of the order of a multimap's values: the table is not a multimap.
const NO_VALUE_ORDER: u8 = 0xff;

impl TableSchema {
    /// Schema of a table from `K` to `V`.
    ///
    /// # Panics
    /// As [`TypeSchema::of`].
    pub fn of<K: Key, V: Value>() -> Self {
        let (key, value) = (TypeSchema::of::<K>(), TypeSchema::of::<V>());
        Self {
            key,
            value,
            order: K::order(),
            value_order: None,
        }
    }

    /// Schema of a multimap from `K` to `V`.
    ///
    /// # Panics
    /// As [`TypeSchema::of`].
    pub fn of_multimap<K: Key, V: Key>() -> Self {
        Self {
            value_order: Some(V::order()),
            ..Self::of::<K, V>()
        }
    }

    /// Type of the keys.
    pub fn key(&self) -> &TypeSchema {
        &self.key
    }

    /// Type of the values.
    pub fn value(&self) -> &TypeSchema {
        &self.value
    }

    /// Who can order the keys.
    pub fn order(&self) -> KeyOrder {
        self.order
    }

    /// Who can order the values of one key, if the table is a multimap.
    pub fn value_order(&self) -> Option<KeyOrder> {
        self.value_order
    }

    /// Whether a key can have several values.
    pub fn is_multimap(&self) -> bool {
        self.value_order.is_some()
    }

    /// Appends the stored form: layout, order of the keys, order of the values, schema of the key, schema of the value.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(SCHEMA_LAYOUT);
        out.push(self.order.code());
        out.push(self.value_order.map_or(NO_VALUE_ORDER, KeyOrder::code));
        self.key.encode(out);
        self.value.encode(out);
    }

    /// Reads the stored form, which fills `data`.
    ///
    /// # Errors
    /// If `data` is no table schema, or names an order that contradicts the types.
    pub fn decode(data: &[u8]) -> Result<Self, Corruption> {
        let &[layout, order, value_order, ref types @ ..] = data else {
            return Err(Corruption::new("table schema is cut off"));
        };
        if layout != SCHEMA_LAYOUT {
            return Err(Corruption::new("table schema has an unknown layout").found(layout));
        }
        let mut rest = types;
        let key = TypeSchema::take(&mut rest)?;
        let value = TypeSchema::take(&mut rest)?;
        if !rest.is_empty() {
            return Err(Corruption::new("table schema is followed by other bytes"));
        }
        let order = decode_order(order, &key)?;
        let value_order = match value_order {
            NO_VALUE_ORDER => None,
            code => Some(decode_order(code, &value)?),
        };
        Ok(Self {
            key,
            value,
            order,
            value_order,
        })
    }
}

/// Reads the order of a type's stored keys. A built-in type has one order only; users' types say their own.
fn decode_order(code: u8, schema: &TypeSchema) -> Result<KeyOrder, Corruption> {
    let Some(order) = KeyOrder::from_code(code) else {
        return Err(Corruption::new("table schema has an unknown key order").found(code));
    };
    if schema.shape.is_built_in() && order != schema.shape.order() {
        return Err(
            Corruption::new("table schema has a key order other than its key type's")
                .expected(schema.shape.order().code())
                .found(code),
        );
    }
    Ok(order)
}
