/** Logs whose tree is that of RFC 6962, with the signed notes, tiles and witnesses of C2SP. */
export { type AddCheckpoint, readAddCheckpoint, writeAddCheckpoint } from './add-checkpoint.js';
export { decodeBase64 } from './base64.js';
export {
  asSigned,
  type Checkpoint,
  openCheckpoint,
  openedBy,
  originOf,
  signCheckpoint,
  sizeOf,
} from './checkpoint.js';
export { cosignaturesBy, newWitnessKey, readWitnessKey, readWitnessSigner } from './cosignature.js';
export { LogLeaves } from './leaves.js';
export { LogAlteredError, type TreeAlteredReason } from './log-altered.js';
export {
  completeSubtrees,
  consistencyProof,
  EMPTY_ROOT,
  HASH_BYTES,
  inclusionProof,
  isConsistent,
  isIncluded,
  leafHash,
  type NodeReader,
  nodeHash,
  rootHash,
  type TreeNode,
} from './merkle-tree.js';
export { TILES_REMEMBERED } from './recent-leaves.js';
export {
  ifValid,
  NoteError,
  type NoteSigner,
  type NoteVerifier,
  newSigningKey,
  openNote,
  readSignature,
  readSigningKey,
  readSigningKeys,
  readVerifierKey,
  signatureLine,
  signNote,
  textOf,
} from './signed-note.js';
export {
  edgeAmong,
  edgeOf,
  growTiles,
  type LeafStore,
  parseTilePath,
  readFromTiles,
  rootOfEdge,
  TILE_WIDTH,
  type Tile,
  type TileKey,
  type TileReader,
  tilePath,
  widthOf,
} from './tiles.js';
