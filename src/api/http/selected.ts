import { z } from 'zod';
import { parseSelection, type Selection, type Shape, select } from '../../domain/http/selection.js';
import { toJson } from '../../domain/text/unicode.js';
import type { Context } from './context.js';

/** A response with one member whose text is put in as it is: parsing it could change its numbers. */
export class WithText {
  readonly value: object;
  readonly name: string;
  readonly text: string;

  constructor(value: object, name: string, text: string) {
    this.value = value;
    this.name = name;
    this.text = text;
  }
}

/** The query parameter of every read that chooses what is returned. */
export const fieldsParameter = z
  .string()
  .optional()
  .meta({
    examples: ['id'],
    description:
      'Fields to return, in this order, separated by commas; {…} behind a field names those in it, and .limit(3) takes the first of a list: id,deliveries.limit(3){status}. Of a list, the fields of each row',
  });

/** Reads the selection of a request. @param schema of the response @throws Problem 400 */
export function selectionIn(text: string | undefined, schema: z.ZodType): Selection | undefined {
  return text === undefined ? undefined : parseSelection(text, shapeOf(rowOf(schema) ?? schema));
}

/** Answers with a response, or with what was chosen of it. */
export function answer(ctx: Context, response: unknown, selection: Selection | undefined): void {
  if (response instanceof WithText) {
    ctx.type = 'application/json';
    ctx.body = textOf(response, selection);
    return;
  }
  if (response !== undefined) ctx.body = response;
  const { body } = ctx;
  if (!selection || typeof body !== 'object' || body === null) return;
  const isPage = 'data' in body && 'paging' in body;
  ctx.body = isPage ? { ...body, data: select(body.data, selection) } : select(body, selection);
}

function textOf({ value, name, text }: WithText, selection: Selection | undefined): string {
  const rest = toJson(selection ? (select(value, selection) as object) : value);
  if (selection && !selection.has(name)) return rest;
  return `${rest.slice(0, -1)}${rest === '{}' ? '' : ','}${JSON.stringify(name)}:${text}}`;
}

const shapes = new WeakMap<z.ZodType, Shape>();

/** The fields that a response has by its schema. */
function shapeOf(schema: z.ZodType): Shape {
  const known = shapes.get(schema);
  if (known) return known;
  const shape = shapeFrom(schema);
  shapes.set(schema, shape);
  return shape;
}

function shapeFrom(schema: z.ZodType): Shape {
  if (schema instanceof z.ZodArray) return shapeOf(schema.element as z.ZodType);
  if (schema instanceof z.ZodRecord) return { isMap: true };
  if (schema instanceof z.ZodObject)
    return {
      fields: new Map(
        Object.entries(schema.shape).map(([name, field]) => [name, shapeOf(field as z.ZodType)]),
      ),
    };
  if (schema instanceof z.ZodUnion) {
    const shapesOfAll = schema.options.map((option) => shapeOf(option as z.ZodType));
    return { fields: new Map(shapesOfAll.flatMap(({ fields }) => [...(fields ?? [])])) };
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return shapeOf(schema.unwrap() as z.ZodType);
  return {};
}

/** The shape of a row, if the response is a page of a list. */
function rowOf(schema: z.ZodType): z.ZodType | undefined {
  if (!(schema instanceof z.ZodObject)) return undefined;
  const { data, paging } = schema.shape;
  return paging && data instanceof z.ZodArray ? (data.element as z.ZodType) : undefined;
}
