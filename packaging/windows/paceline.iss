; Inno Setup's script of the Windows installer: iscc /DVersion=0.1.0 packaging\windows\paceline.iss
; Takes the folder dist\paceline that packaging\bundle\build.py built. Installs for the user, without an administrator.
#ifndef Version
  #error Say the version: /DVersion=0.1.0
#endif

[Setup]
AppId={{7C0C2B53-60C0-4D5B-9E0E-3B7D0C7F5A41}
AppName=Paceline
AppVersion={#Version}
AppPublisher=Paceline's developers
DefaultDirName={autopf}\Paceline
DefaultGroupName=Paceline
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
OutputDir=..\..\dist
OutputBaseFilename=paceline-{#Version}-windows-x86_64-setup
LicenseFile=..\..\LICENSE
UninstallDisplayIcon={app}\paceline.exe
Compression=lzma2/max
SolidCompression=yes
ChangesAssociations=yes
WizardStyle=modern

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: "associate"; Description: "{cm:AssocFileExtension,Paceline,.gguf}"

[Files]
Source: "..\..\dist\paceline\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Paceline"; Filename: "{app}\paceline-window.exe"
Name: "{autodesktop}\Paceline"; Filename: "{app}\paceline-window.exe"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.gguf\OpenWithProgids"; ValueType: string; ValueName: "Paceline.gguf"; ValueData: ""; Flags: uninsdeletevalue; Tasks: associate
Root: HKA; Subkey: "Software\Classes\Paceline.gguf"; ValueType: string; ValueData: "GGUF language model"; Flags: uninsdeletekey; Tasks: associate
Root: HKA; Subkey: "Software\Classes\Paceline.gguf\DefaultIcon"; ValueType: string; ValueData: "{app}\paceline.exe,0"; Tasks: associate
Root: HKA; Subkey: "Software\Classes\Paceline.gguf\shell\open\command"; ValueType: string; ValueData: """{app}\paceline-window.exe"" ""%1"""; Tasks: associate

[Run]
Filename: "{app}\paceline-window.exe"; Description: "{cm:LaunchProgram,Paceline}"; Flags: nowait postinstall skipifsilent
