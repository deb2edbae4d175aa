// SPDX-License-Identifier: Apache-2.0
/** VitePress reads this file. The configuration is in tools/docs, with its tests. */
import { siteConfig } from "@switchyard/docs";

export default siteConfig();
