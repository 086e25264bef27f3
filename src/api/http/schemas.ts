import { z } from 'zod';

/** Shapes that responses of several resources have. They document; responses are not filtered through them. */

export const timeSchema = z.iso.datetime().describe('ISO 8601, UTC');

export const deskSessionIdSchema = z
  .string()
  .optional()
  .describe('The session at the desk that it was made in: it stops working when that ends');

const pages = new Map<z.ZodType, z.ZodType>();

/** A list's response. @param row a schema with an id */
export function pageOf(row: z.ZodType): z.ZodType {
  const known = pages.get(row);
  if (known) return known;
  const page = z
    .object({
      data: z.array(row),
      paging: z.object({
        cursors: z.object({ after: z.string().optional() }),
        next: z.string().optional().describe('Path of the next page; absent on the last page'),
      }),
    })
    .meta({ id: `${row.meta()?.id}Page` });
  pages.set(row, page);
  return page;
}

export const problemSchema = z
  .object({
    type: z.string().describe('Address of a page that says what to do about this error'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().describe('Stable: depend on it'),
    request_id: z.string(),
    errors: z
      .array(
        z.object({
          pointer: z.string().optional().describe('JSON Pointer (RFC 6901) into the body'),
          parameter: z.string().optional().describe('Name of a query parameter, path parameter or header'),
          detail: z.string(),
        }),
      )
      .optional(),
    portal: z
      .object({
        name: z.string().optional(),
        logo_url: z.string().optional(),
        color: z.string().optional(),
        return_url: z.string().optional(),
      })
      .optional()
      .describe(
        'For an expired portal link: the look of the portal, and the address where to get another link',
      ),
  })
  .meta({
    examples: [
      {
        type: 'https://hookline.example.com/errors/invalid_request',
        title: 'The request is not valid',
        status: 400,
        detail: 'The request is not valid: /name is missing.',
        code: 'invalid_request',
        request_id: 'req_01M7Y2V07RS2Y47QBBGSV7HTCR',
        errors: [{ pointer: '/name', detail: 'is missing' }],
      },
    ],
  });
