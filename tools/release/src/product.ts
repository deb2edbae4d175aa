// SPDX-License-Identifier: Apache-2.0
/** Where the product lives. */

/** Repository of the sources and of the releases. */
export const repositoryUrl = "https://github.com/switchyard/switchyard";
