//! Header slots: the two 4 KiB blocks at the start of the file, of which the newest intact one is the database's state.
//!
//! The block layout is normative in `docs/format.md`, "Header slot". Everything a new file needs lies in the first 512
//! bytes, so that a torn write of a disk sector leaves either nothing or a whole slot.
//!
//! # Invariants
//! 1. The checksum covers the whole block; a slot with any bit changed is not a slot.
//! 2. Magic and format version keep their places for ever, so that any version can refuse any other by name.

use super::map::MapRef;
use super::{Number, PageId, ROOT_BYTES, Root, UNIT_BYTES, seal};
use crate::error::Corruption;
use crate::int;

/// First bytes of every database file.
pub(crate) const MAGIC: [u8; 8] = *b"bristle\x1a";
/// Version of the file format that this build reads and writes; see [`crate::FILE_FORMAT`].
pub(crate) const FORMAT_VERSION: u8 = 1;

const CLEAN: u32 = 1;

/// What a header slot says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Page size of the database in bytes.
    pub(crate) page_bytes: u32,
    /// Drawn at random when the file was created.
    pub(crate) database_id: [u8; 16],
    /// Raised by every header write; the highest intact generation wins.
    pub(crate) generation: u64,
    /// The published version.
    pub(crate) version: Number,
    /// No number at or above this was ever used.
    pub(crate) ceiling: Number,
    /// Units up to the last one in use: the file is at least that long.
    pub(crate) units: u64,
    /// Next table id.
    pub(crate) next_table: u64,
    /// Tree from table names to table ids and types.
    pub(crate) names: Option<Root>,
    /// Tree from table ids to roots.
    pub(crate) roots: Option<Root>,
    /// Space map: top page and height (0: the top page is a map leaf).
    pub(crate) map: Option<MapRef>,
    /// See `map`.
    pub(crate) map_height: u8,
    /// Everything up to this sequence number is in the roots (0 without a log).
    pub(crate) base_seq: u64,
    /// Whether the last close was clean.
    pub(crate) clean: bool,
}

/// Why a block is not a slot of this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlotError {
    /// No slot of any version.
    Foreign,
    /// A slot of another format version.
    Version(u8),
    /// A slot whose bytes do not match its checksum, or whose fields contradict each other.
    Damaged(Corruption),
}

// Field offsets; docs/format.md repeats them.
const CHECKSUM_AT: usize = 8;
const VERSION_AT: usize = 16;
const PAGE_BYTES_AT: usize = 24;
const FLAGS_AT: usize = 28;
const ID_AT: usize = 32;
const GENERATION_AT: usize = 48;
const NUMBER_AT: usize = 56;
const CEILING_AT: usize = 64;
const UNITS_AT: usize = 72;
const NEXT_TABLE_AT: usize = 80;
const BASE_SEQ_AT: usize = 88;
const NAMES_AT: usize = 96;
const ROOTS_AT: usize = 128;
const MAP_AT: usize = 160;
// 192..256 is kept for a merge cursor, 256..4096 for the log directory; both are zero without a log.
const LOG_AT: usize = 192;
/// Bytes between the fields, zero in this format version.
const RESERVED: [std::ops::Range<usize>; 4] = [
    VERSION_AT + 1..PAGE_BYTES_AT,
    NAMES_AT + ROOT_BYTES..ROOTS_AT,
    ROOTS_AT + ROOT_BYTES..MAP_AT,
    MAP_AT + 17..LOG_AT,
];
const _: () = assert!(NAMES_AT + ROOT_BYTES <= ROOTS_AT && ROOTS_AT + ROOT_BYTES <= MAP_AT);
const _: () = assert!(MAP_AT + 17 <= LOG_AT && LOG_AT < 512);

impl Slot {
    /// The block of this slot.
    pub(crate) fn encode(&self) -> Box<[u8]> {
        let mut block = vec![0; UNIT_BYTES];
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(VERSION_AT, &[FORMAT_VERSION]);
        put(PAGE_BYTES_AT, &self.page_bytes.to_le_bytes());
        put(FLAGS_AT, &if self.clean { CLEAN } else { 0 }.to_le_bytes());
        put(ID_AT, &self.database_id);
        put(GENERATION_AT, &self.generation.to_le_bytes());
        put(NUMBER_AT, &self.version.0.to_le_bytes());
        put(CEILING_AT, &self.ceiling.0.to_le_bytes());
        put(UNITS_AT, &self.units.to_le_bytes());
        put(NEXT_TABLE_AT, &self.next_table.to_le_bytes());
        put(BASE_SEQ_AT, &self.base_seq.to_le_bytes());
        let mut root = Vec::with_capacity(ROOT_BYTES);
        Root::encode(self.names.as_ref(), &mut root);
        put(NAMES_AT, &root);
        root.clear();
        Root::encode(self.roots.as_ref(), &mut root);
        put(ROOTS_AT, &root);
        if let Some(map) = self.map {
            put(MAP_AT, &map.id.0.to_le_bytes());
            put(MAP_AT + 8, &map.birth.0.to_le_bytes());
            put(MAP_AT + 16, &[self.map_height]);
        }
        let sum = block_checksum(&block);
        block[CHECKSUM_AT..CHECKSUM_AT + 8].copy_from_slice(&sum.to_le_bytes());
        block.into_boxed_slice()
    }

    /// Decodes a block.
    pub(crate) fn decode(block: &[u8]) -> Result<Slot, SlotError> {
        if block.len() != UNIT_BYTES || block[..8] != MAGIC {
            return Err(SlotError::Foreign);
        }
        let version = block[VERSION_AT];
        let stored = int::read_u64(block, CHECKSUM_AT).unwrap_or(0);
        // No version is 0: a file cut short before the version reads so.
        if version != FORMAT_VERSION && version != 0 {
            return Err(SlotError::Version(version));
        }
        let sum = block_checksum(block);
        if stored != sum {
            return Err(SlotError::Damaged(
                Corruption::new("header slot checksum does not match")
                    .expected(format_args!("{stored:016x}"))
                    .found(format_args!("{sum:016x}")),
            ));
        }
        Slot::decode_fields(block).map_err(SlotError::Damaged)
    }

    fn decode_fields(block: &[u8]) -> Result<Slot, Corruption> {
        let malformed = |what: &'static str| Corruption::new(what);
        if block[VERSION_AT] != FORMAT_VERSION {
            return Err(malformed("header slot has no format version"));
        }
        let u64_at = |at| int::read_u64(block, at).unwrap_or(0);
        let u32_at = |at| int::read_u32(block, at).unwrap_or(0);
        let page_bytes = u32_at(PAGE_BYTES_AT);
        let page_len = int::index(page_bytes);
        let allowed = crate::limits::PAGE_BYTES_MIN..=crate::limits::PAGE_BYTES_MAX;
        if !allowed.contains(&page_len) || !page_len.is_multiple_of(UNIT_BYTES) {
            return Err(malformed("header slot names an impossible page size").found(page_bytes));
        }
        if u32_at(FLAGS_AT) & !CLEAN != 0 {
            return Err(malformed("header slot has unknown feature bits").found(u32_at(FLAGS_AT)));
        }
        if block[LOG_AT..].iter().any(|&byte| byte != 0) {
            return Err(malformed(
                "header slot names a log, which this format version has not",
            ));
        }
        if RESERVED
            .into_iter()
            .any(|range| block[range].iter().any(|&byte| byte != 0))
        {
            return Err(malformed(
                "header slot has bytes set that this format version reserves",
            ));
        }
        let mut database_id = [0; 16];
        database_id.copy_from_slice(&block[ID_AT..ID_AT + 16]);
        let map_id = u64_at(MAP_AT);
        let slot = Slot {
            page_bytes,
            database_id,
            generation: u64_at(GENERATION_AT),
            version: Number(u64_at(NUMBER_AT)),
            ceiling: Number(u64_at(CEILING_AT)),
            units: u64_at(UNITS_AT),
            next_table: u64_at(NEXT_TABLE_AT),
            names: Root::decode(&block[NAMES_AT..NAMES_AT + ROOT_BYTES])?,
            roots: Root::decode(&block[ROOTS_AT..ROOTS_AT + ROOT_BYTES])?,
            map: (map_id != 0).then(|| MapRef {
                id: PageId(map_id),
                birth: Number(u64_at(MAP_AT + 8)),
            }),
            map_height: block[MAP_AT + 16],
            base_seq: u64_at(BASE_SEQ_AT),
            clean: u32_at(FLAGS_AT) & CLEAN != 0,
        };
        let limit = int::U48_MAX;
        let counts = [slot.ceiling.0, slot.units, slot.generation, slot.next_table];
        if slot.version >= slot.ceiling || counts.iter().any(|&count| count > limit) {
            return Err(malformed("header slot has impossible numbers"));
        }
        if slot.base_seq != 0 {
            return Err(malformed(
                "header slot names a sequence number, which this format version has not",
            ));
        }
        if slot.map.is_none() && (slot.names.is_some() || slot.roots.is_some()) {
            return Err(malformed("header slot names trees but no space map"));
        }
        let roots = [slot.names, slot.roots].into_iter().flatten();
        let births = roots.map(|root| root.child.birth);
        let youngest = births.chain(slot.map.map(|map| map.birth)).max();
        if youngest.is_some_and(|birth| birth >= slot.version) {
            return Err(malformed(
                "header slot names pages younger than its version",
            ));
        }
        if slot.map_height > 4 {
            return Err(malformed("header slot names an impossible space map"));
        }
        Ok(slot)
    }
}

/// Checksum of a block with its checksum field taken as zero.
fn block_checksum(block: &[u8]) -> u64 {
    let mut copy = block.to_vec();
    copy[CHECKSUM_AT..CHECKSUM_AT + 8].fill(0);
    seal::checksum(&copy)
}
