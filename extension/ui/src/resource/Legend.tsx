import * as React from 'react';
import {authors, explainAuthor, nameOfAuthor} from './words';
import type {Author} from './words';

interface Props {
  counts: Map<Author, number>;
  chosen: Author | undefined;
  choose: (author: Author | undefined) => void;
}

/** Who wrote how many fields; each entry shows only that author's fields. */
export function Legend({counts, chosen, choose}: Props): React.ReactElement {
  return (
    <div className='moorpin-filters' role='group' aria-label='Show the fields of one kind of writer'>
      {authors
        .filter((author) => (counts.get(author) ?? 0) > 0 || author === chosen)
        .map((author) => (
          <button
            key={author}
            type='button'
            className={`moorpin-author moorpin-by--${author}`}
            title={explainAuthor(author)}
            aria-pressed={author === chosen}
            onClick={() => choose(author === chosen ? undefined : author)}>
            {nameOfAuthor(author)} {counts.get(author) ?? 0}
          </button>
        ))}
    </div>
  );
}
