// The style sheet of all surfaces, brought by the bundle itself.
import text from './style.css';
import surfaces from './surfaces.css';

const id = 'moorpin-style';

/** Adds the style sheet to the page, once. */
export function addStyle(): void {
  if (document.getElementById(id) !== null) {
    return;
  }
  const style = document.createElement('style');
  style.id = id;
  style.textContent = text + surfaces;
  document.head.appendChild(style);
}
