// SPDX-License-Identifier: Apache-2.0
/** About as many concurrent writes of node states as keep one API server busy; more would only queue there. */
export const parallelNodes = 24;
