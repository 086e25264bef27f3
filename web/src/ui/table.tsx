/** A column's name; or also that its cells stand at the right, or what stands at its head. */
type Column = string | { name: string; right?: true; content?: React.ReactNode };

/**
 * Rows under the names of their columns. On a phone, each row folds into a block.
 *
 * @param head what is not a column is left out
 */
export function Table({
  head,
  children,
}: {
  head: readonly (Column | false)[];
  /** Rows of the body: `<tr>`. */
  children: React.ReactNode;
}) {
  return (
    <div className="table-wrap">
      <table className="folds">
        <thead>
          <tr>
            {head
              .filter((column) => column !== false)
              .map((column) =>
                typeof column === 'string' ? (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ) : (
                  <th key={column.name} scope="col" className={column.right && 'right'}>
                    {column.content ? (
                      <>
                        {/* What stands here may be hidden on a phone: the column keeps its name. */}
                        <span className="visually-hidden">{column.name}</span>
                        {column.content}
                      </>
                    ) : (
                      column.name
                    )}
                  </th>
                ),
              )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
