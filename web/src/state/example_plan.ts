// The plan that the tree's examples hold, for pages that want one.
import text from '../../../examples/plan.json?raw';

export const EXAMPLE_PLAN: string = text;
