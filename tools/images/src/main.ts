// SPDX-License-Identifier: Apache-2.0
/** The process of the tool: `node tools/images/src/main.ts operator --arch amd64`, or `npm run images -- operator`. */
import { main } from "./cli.ts";

process.exitCode = await main(process.argv.slice(2));
