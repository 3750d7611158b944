//! Pages of the space map: bitmap pieces and the index pages above them, one unit each.
//!
//! ```text
//! map leaf:   header (32) | bitmap 4032 bytes (bit i of byte i/8: unit i is reachable) | zeros | trailer
//! map index:  header (32) | (page id u48, birth u48)[count] | zeros | trailer
//! ```
//! An index entry with page id 0 stands for a subtree in which no unit is reachable.

use super::header::{HEADER_BYTES, PageHeader, PageKind, TRAILER_BYTES};
use super::{Number, PageId, UNIT_BYTES, seal};
use crate::error::Corruption;
use crate::int;

/// Bytes of bitmap in a map leaf.
pub(crate) const MAP_BITMAP_BYTES: usize = 4032;
/// Units that one map leaf describes (126 MiB of file).
pub(crate) const MAP_LEAF_UNITS: u64 = (MAP_BITMAP_BYTES * 8) as u64;
/// Children of a full map index page.
pub(crate) const MAP_FANOUT: usize = 336;

const ENTRY_BYTES: usize = 12;
const _: () = assert!(HEADER_BYTES + MAP_BITMAP_BYTES + TRAILER_BYTES <= UNIT_BYTES);
const _: () = assert!(HEADER_BYTES + MAP_FANOUT * ENTRY_BYTES + TRAILER_BYTES <= UNIT_BYTES);

/// Place and write of a map page; `None` in a slot of the map means that no unit below is reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapRef {
    /// The page's unit.
    pub(crate) id: PageId,
    /// Session that wrote it.
    pub(crate) birth: Number,
}

fn finish(mut page: Vec<u8>, kind: PageKind, level: u8, count: usize, at: MapRef) -> Box<[u8]> {
    let header = PageHeader {
        kind,
        flags: 0,
        level,
        count: int::narrow(count),
        id: at.id,
        birth: at.birth,
        units: 1,
        body_end: int::narrow(page.len()),
    };
    page.resize(UNIT_BYTES, 0);
    header.encode(&mut page);
    seal::seal(&mut page);
    page.into_boxed_slice()
}

/// Encodes a map leaf from at most 504 words of its bitmap.
pub(crate) fn encode_leaf(words: &[u64], at: MapRef) -> Box<[u8]> {
    let mut page = vec![0; HEADER_BYTES];
    for word in words {
        page.extend_from_slice(&word.to_le_bytes());
    }
    assert!(
        page.len() <= HEADER_BYTES + MAP_BITMAP_BYTES,
        "map leaf overflow"
    );
    page.resize(HEADER_BYTES + MAP_BITMAP_BYTES, 0);
    finish(page, PageKind::MapLeaf, 0, 0, at)
}

/// Decodes a map leaf into its words.
pub(crate) fn decode_leaf(page: &[u8], at: MapRef) -> Result<Vec<u64>, Corruption> {
    let header = seal::open(page, at.id, at.birth, 1)?;
    if header.kind != PageKind::MapLeaf {
        return Err(Corruption::new("page of the wrong kind in the space map")
            .page(at.id.0)
            .expected(PageKind::MapLeaf.name())
            .found(header.kind.name()));
    }
    let (words, _) = page[HEADER_BYTES..HEADER_BYTES + MAP_BITMAP_BYTES].as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Encodes a map index page at distance `level` from the map leaves.
pub(crate) fn encode_index(children: &[Option<MapRef>], level: u8, at: MapRef) -> Box<[u8]> {
    assert!(children.len() <= MAP_FANOUT, "map index overflow");
    let mut page = vec![0; HEADER_BYTES];
    for child in children {
        let (id, birth) = child.map_or((0, 0), |child| (child.id.0, child.birth.0));
        page.extend_from_slice(&int::u48_bytes(id));
        page.extend_from_slice(&int::u48_bytes(birth));
    }
    finish(page, PageKind::MapIndex, level, children.len(), at)
}

/// Decodes a map index page.
pub(crate) fn decode_index(
    page: &[u8],
    level: u8,
    at: MapRef,
) -> Result<Vec<Option<MapRef>>, Corruption> {
    let header = seal::open(page, at.id, at.birth, 1)?;
    let count = int::index(header.count);
    if header.kind != PageKind::MapIndex || header.level != level || count > MAP_FANOUT {
        return Err(Corruption::new("malformed index page of the space map").page(at.id.0));
    }
    (0..count)
        .map(|idx| {
            let entry = HEADER_BYTES + idx * ENTRY_BYTES;
            let malformed =
                || Corruption::new("malformed index page of the space map").page(at.id.0);
            let id = int::read_u48(page, entry).ok_or_else(malformed)?;
            let birth = int::read_u48(page, entry + 6).ok_or_else(malformed)?;
            if birth > at.birth.0 {
                return Err(malformed());
            }
            Ok((id != 0).then_some(MapRef {
                id: PageId(id),
                birth: Number(birth),
            }))
        })
        .collect()
}
