import * as React from 'react';
import * as ReactDOM from 'react-dom';
import {start} from './start';

// As releases up to v3.4 do it: the page is there before extensions run, and gives away its React.
const {element, container} = start();
ReactDOM.render(element, container);
Object.assign(window, {React, ReactDOM});
