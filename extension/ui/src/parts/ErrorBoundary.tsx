// What stands between a mistake of ours and the page: only resource tabs have an
// error boundary of Argo CD's own, a throw elsewhere would blank all of it.
import * as React from 'react';
import {Button} from './Button';

interface Props {
  /** What did not come, such as "The Drift view". */
  surface: string;
  children: React.ReactNode;
}

interface State {
  message: string;
  failed: boolean;
}

/** Shows its children, or in their place what went wrong and a way to try again. */
export class ErrorBoundary extends React.Component<Props, State> {
  override state: State = {failed: false, message: ''};

  static getDerivedStateFromError(error: unknown): State {
    return {failed: true, message: error instanceof Error ? error.message : String(error)};
  }

  override render(): React.ReactNode {
    if (!this.state.failed) {
      return this.props.children;
    }
    return (
      <div className='moorpin'>
        <div className='white-box moorpin-notice moorpin-notice--bad' role='alert'>
          <p>
            <strong>{this.props.surface} could not be shown.</strong> The rest of Argo CD is not affected.
          </p>
          <p className='moorpin-muted'>{this.state.message}</p>
          <Button onClick={() => this.setState({failed: false, message: ''})}>
            Try again
          </Button>
        </div>
      </div>
    );
  }
}
