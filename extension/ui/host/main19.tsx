import * as React from 'react';
import * as ReactDOM from 'react-dom';
import * as JSXRuntime from 'react/jsx-runtime';
import {createRoot} from 'react-dom/client';
import {start} from './start';

// As releases from v3.5 do it: the page is there some time later. How much is up to the
// browser; here it is always after the extensions, which is when system pages get lost.
const {element, container} = start();
Object.assign(window, {React, ReactDOM, ReactJSXRuntime: JSXRuntime});
document.addEventListener('DOMContentLoaded', () => createRoot(container).render(element));
