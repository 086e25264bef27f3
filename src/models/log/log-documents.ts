import { Schema } from 'mongoose';
import { BY_MAJORITY } from '../mongo/durability.js';

/** A tile of the tree (see `Tile`). Those of level 0 hold the leaves: they say what the log holds; all else follows from them. */
export interface TileDocument {
  /** Level and index, such as `0/17`. */
  _id: string;
  /** How many hashes it has. It only grows. */
  width: number;
  /** The hashes, one after the other. */
  hashes: Buffer;
  /** Of a tile of leaves: when its first one was appended. */
  began_at?: Date | null;
}

/** The last signed checkpoint. */
export interface HeadDocument {
  _id: string;
  /** Leaves. It only grows. */
  size: number;
  /** Base64. */
  root: string;
  /** The signed note. */
  note: string;
  signed_at: Date;
  /** What a time-stamping service answered about the note, base64. */
  timestamp?: string | null;
}

/** The key that signs checkpoints, where the settings name none. */
export interface LogKeyDocument {
  _id: string;
  sealed: string;
}

const required = true;

export const tileSchema = new Schema<TileDocument>(
  { _id: String, width: { type: Number, required }, hashes: { type: Buffer, required }, began_at: Date },
  { versionKey: false },
);

export const headSchema = new Schema<HeadDocument>(
  {
    _id: String,
    size: { type: Number, required },
    root: { type: String, required },
    note: { type: String, required },
    signed_at: { type: Date, required },
    timestamp: String,
  },
  { versionKey: false, ...BY_MAJORITY },
);

export const logKeySchema = new Schema<LogKeyDocument>(
  { _id: String, sealed: { type: String, required } },
  { versionKey: false, ...BY_MAJORITY },
);
