// Should a page stumble over an answer, the rest stays, and it says over what.
import type { ComponentChildren } from 'preact';
import { Component } from 'preact';

export class StumbleGuard extends Component<{ children: ComponentChildren }, { fault?: string }> {
  override componentDidCatch(fault: unknown): void {
    this.setState({ fault: fault instanceof Error ? fault.message : String(fault) });
  }

  override render() {
    if (!this.state.fault) return this.props.children;
    return (
      <p class="complaint" role="alert">
        The page could not show this answer ({this.state.fault}). The command above gives it in a terminal.
      </p>
    );
  }
}
