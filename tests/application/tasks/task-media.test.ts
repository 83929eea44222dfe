import { describe, expect, test } from 'vitest';
import { taskMedia } from '../../../src/application/tasks/task-media.js';

const own = '/mj/image/7.signature';

describe('what a task has made', () => {
  test.each([
    ['a path of a picture', 'suno', 'https://cdn.example/cover.JPEG?size=2', 'picture'],
    ['a path of sound', 'midjourney', 'https://cdn.example/song.mp3', 'audio'],
    ['a path of a video', 'midjourney', 'https://cdn.example/a/clip.mp4#t=1', 'video'],
    ['a drawing without an ending', 'midjourney', 'https://cdn.example/attachments/17', 'picture'],
    ['a song without an ending', 'suno', 'https://pipe.example/?item_id=17.png', 'audio'],
    ['a drawing with another ending', 'midjourney', 'https://cdn.example/17.constructor', 'picture'],
  ] as const)('has the kind that its address says: %s', (_name, platform, url, kind) =>
    expect(taskMedia({ platform, urls: [url], ownPicture: null, ownVideo: null })).toEqual([{ kind, url }]),
  );

  test('excludes addresses that are unsafe for browsers', () => {
    const urls = ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'not an address', ''];
    expect(taskMedia({ platform: 'midjourney', urls, ownPicture: own, ownVideo: null })).toEqual([]);
  });

  test('has the picture of a drawing at this gateway where it is passed on', () => {
    const urls = ['https://cdn.example/17.png', 'https://cdn.example/17.mp4'];
    expect(taskMedia({ platform: 'midjourney', urls, ownPicture: own, ownVideo: null })).toEqual([
      { kind: 'picture', url: own },
      { kind: 'video', url: 'https://cdn.example/17.mp4' },
    ]);
  });

  test('has every video at this gateway, however many addresses upstream names', () => {
    const ownVideo = '/v1/videos/files/7.signature';
    const made = (urls: readonly string[], path: string | null) =>
      taskMedia({ platform: 'video', urls, ownPicture: null, ownVideo: path });
    expect(made([], ownVideo)).toEqual([{ kind: 'video', url: ownVideo }]);
    expect(made(['https://a.example/1.mp4', 'https://a.example/2'], ownVideo)).toEqual([
      { kind: 'video', url: ownVideo },
      { kind: 'video', url: `${ownVideo}?index=1` },
    ]);
    expect(made(['https://a.example/1.mp4'], null)).toEqual([]);
  });

  test('keeps the order of its addresses, each once', () => {
    const urls = ['https://cdn.example/b.mp3', 'https://cdn.example/a.png', 'https://cdn.example/b.mp3'];
    expect(taskMedia({ platform: 'suno', urls, ownPicture: own, ownVideo: null }).map(({ url }) => url)).toEqual(
      urls.slice(0, 2),
    );
  });
});
