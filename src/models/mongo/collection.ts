import {
  type Connection,
  type IndexDefinition,
  type IndexOptions,
  type Model,
  type mongo,
  Schema,
  type SchemaDefinition,
  type SchemaOptions,
  type SchemaTypeOptions,
} from 'mongoose';
import type { BY_MAJORITY } from './durability.js';

declare const HELD: unique symbol;

/** A field that each document of a collection has. Its value is for the compiler alone. */
export interface Must<T> {
  type: unknown;
  required: boolean;
  [HELD]?: T;
}

/** A field that a document may lack. */
export interface May<T> {
  type: unknown;
  [HELD]?: T;
}

/** The fields of a collection's documents, by name. */
export type Fields = Readonly<Record<string, Must<unknown> | May<unknown>>>;

/** Type of documents with some fields. */
export type DocumentOf<F extends Fields> = {
  [Name in keyof F as F[Name] extends Must<unknown> ? Name : never]: F[Name] extends Must<infer T>
    ? T
    : never;
} & {
  [Name in keyof F as F[Name] extends Must<unknown> ? never : Name]?:
    | (F[Name] extends May<infer T> ? T : never)
    | null;
};

type Scalar = StringConstructor | NumberConstructor | BooleanConstructor | DateConstructor;
type ScalarValue<S extends Scalar> = S extends DateConstructor ? Date : ReturnType<S>;
type FieldOptions = Pick<
  SchemaTypeOptions<unknown>,
  'default' | 'expires' | 'index' | 'sparse' | 'unique'
> & {
  /** Only of text that may be empty. */
  required?: false;
  /** `false` for documents inside others. */
  _id?: false;
};

/** @param type as mongoose has it; the type parameter says more exactly what the field holds */
export function must<S extends Scalar>(type: S, options?: FieldOptions): Must<ScalarValue<S>>;
export function must<T>(type: unknown, options?: FieldOptions): Must<T>;
export function must(type: unknown, options?: FieldOptions): Must<unknown> {
  return { type, required: true, ...options };
}

/** The same for a field that may be absent, which a list is where there is none. */
export function may<S extends Scalar>(type: S, options?: FieldOptions): May<ScalarValue<S>>;
export function may<T>(type: unknown, options?: FieldOptions): May<T>;
export function may(type: unknown, options?: FieldOptions): May<unknown> {
  return { type, default: undefined, ...options } as May<unknown>;
}

/** Those of some fields that are there: MongoDB has `null` for what was taken away. */
export function withoutNulls<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(there) as { [Name in keyof T]?: NonNullable<T[Name]> };
}

/** A schema by itself, for documents inside others. */
export function schemaOf(fields: Fields, options?: SchemaOptions): Schema {
  return new Schema(fields as SchemaDefinition, { versionKey: false, ...options }) as Schema;
}

/** The model of a collection on a connection. */
export type Collection<D> = ((connection: Connection) => Model<D>) & { readonly fields: Fields };
export type DocumentIn<C> = C extends Collection<infer D> ? D : never;

/** The schemas of all collections that are declared, by name. */
export const COLLECTIONS = new Map<string, Schema>();

/** Declares a collection: its name, the fields of its documents, and the indexes that are not of a single field. */
export function collection<F extends Fields>(
  name: string,
  fields: F,
  {
    indexes = [],
    ...options
  }: { indexes?: (IndexDefinition | [IndexDefinition, IndexOptions])[] } & Partial<typeof BY_MAJORITY> = {},
): Collection<DocumentOf<F>> {
  const schema = schemaOf(fields, { collection: name, ...options });
  for (const index of indexes) {
    const [of, how] = Array.isArray(index) ? index : [index];
    schema.index(of, how);
  }
  COLLECTIONS.set(name, schema);
  const modelOn = (connection: Connection) =>
    (connection.models[name] ?? connection.model(name, schema)) as unknown as Model<DocumentOf<F>>;
  return Object.assign(modelOn, { fields });
}

/** Base class of repositories over a collection. */
export function repositoryOf<D>(documents: Collection<D>) {
  return class {
    protected readonly model: Model<D>;

    constructor(connection: Connection) {
      this.model = documents(connection);
    }
  };
}

/** The driver's collection of a model: what is written by it is stored as it is, and not cast by the schema. */
export function driverCollection<D extends object>(model: Model<D>): mongo.Collection<D> {
  return model.collection as unknown as mongo.Collection<D>;
}
