import { Button, Menu, MenuItem, PopoverNext, Tag } from '@blueprintjs/core';
import { Flash, Menu as MenuIcon, Moon, Translate } from '@blueprintjs/icons';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router-dom';
import { LinkButton } from '../kit/LinkButton.js';
import { useNarrow } from '../kit/narrow.js';
import { useStatus, useViewer } from '../kit/SessionProvider.js';
import { chooseTheme, useTheme } from '../kit/theme.js';
import { changeLanguage, languages, useLanguage, useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';
import { TopLinks } from './TopLinks.js';
import { UserMenu } from './UserMenu.js';

const PaletteButton = lazy(async () => ({ default: (await import('./PaletteButton.js')).PaletteButton }));

interface TopBarProps {
  /** Opens and closes the menu; undefined: there is none here. */
  readonly onMenu: (() => void) | undefined;
  readonly isMenuOpen: boolean;
}

export function TopBar({ onMenu, isMenuOpen }: TopBarProps) {
  const t = useText(shellTexts);
  const { systemName, logo, selfUse, demoSite, setUp } = useStatus();
  const viewer = useViewer();
  const narrow = useNarrow();
  return (
    <header className="top-bar">
      {onMenu !== undefined && (
        <Button
          variant="minimal"
          icon={<MenuIcon />}
          aria-label={t(isMenuOpen ? 'nav.collapse' : 'nav.expand')}
          aria-expanded={isMenuOpen}
          onClick={onMenu}
        />
      )}
      <Link to="/" className="brand">
        <img src={logo === '' ? '/logo.svg' : logo} alt="" width={24} height={24} />
        <span>{systemName}</span>
      </Link>
      {selfUse && <Tag minimal>{t('badge.selfUse')}</Tag>}
      {demoSite && (
        <Tag minimal intent="warning">
          {t('badge.demo')}
        </Tag>
      )}
      {!narrow && <TopLinks />}
      <div className="top-tools">
        {setUp && viewer !== null && (
          <Suspense fallback={<span className="tool-place" />}>
            <PaletteButton viewer={viewer} />
          </Suspense>
        )}
        <ThemeButton />
        <LanguageMenu />
        {setUp && <Account />}
      </div>
    </header>
  );
}

function ThemeButton() {
  const t = useText(shellTexts);
  const other = useTheme() === 'dark' ? 'light' : 'dark';
  const name = t(`theme.${other}`);
  return (
    <Button
      variant="minimal"
      icon={other === 'dark' ? <Moon /> : <Flash />}
      aria-label={name}
      title={name}
      onClick={() => chooseTheme(other)}
    />
  );
}

function LanguageMenu() {
  const t = useText(shellTexts);
  const current = useLanguage();
  const menu = (
    <Menu aria-label={t('language')}>
      {languages.map((language) => (
        <MenuItem
          key={language}
          roleStructure="listoption"
          selected={language === current}
          text={t(`language.${language}`)}
          lang={language}
          onClick={() => void changeLanguage(language)}
        />
      ))}
    </Menu>
  );
  return (
    <PopoverNext placement="bottom-end" arrow={false} content={menu}>
      <Button variant="minimal" icon={<Translate />} aria-label={t('language')} title={t('language')} />
    </PopoverNext>
  );
}

function Account() {
  const t = useText(shellTexts);
  const viewer = useViewer();
  const { registration, selfUse } = useStatus();
  if (viewer !== null) return <UserMenu viewer={viewer} />;
  return (
    <>
      <LinkButton to="/login">{t('account.login')}</LinkButton>
      {registration && !selfUse && <LinkButton to="/register">{t('account.register')}</LinkButton>}
    </>
  );
}
