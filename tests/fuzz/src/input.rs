//! Bytes taken apart into what a target is to do.

/// What is left of the bytes; when nothing is, everything taken is zero or empty.
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// From the first byte on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Input { rest: bytes }
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    /// A number below `bound`, from the next byte.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// The next eight bytes as a number.
    pub fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// So many bytes as the next one says, or what there is.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.rest.len());
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        bytes
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

/// The same bytes in pieces, whose lengths follow from the bytes.
pub fn pieces(bytes: &[u8], seed: u8) -> Vec<&[u8]> {
    let mut rest = bytes;
    let mut random = u32::from(seed) * 2 + 1;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = (1 + (random >> 24) as usize % PIECE_BYTES_MAX).min(rest.len());
        let (piece, behind) = rest.split_at(length);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

const PIECE_BYTES_MAX: usize = 9;
