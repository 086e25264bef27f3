/**
 * Copies a text. Browsers have no clipboard for scripts on a page without HTTPS that is not of this machine: there the
 * text is selected and copied as people do it.
 *
 * @returns whether it was copied
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined)
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // It may be forbidden: the other way may still work.
    }
  const field = document.createElement('textarea');
  field.value = text;
  field.setAttribute('readonly', '');
  field.className = 'visually-hidden';
  const focused = document.activeElement;
  // Within the dialog that is open, if one is: outside of it nothing can be selected.
  (focused?.closest('[role=dialog], [role=alertdialog]') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
